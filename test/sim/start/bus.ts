/** The bus of a simulated process, at its bounds: a short queue, bursts, and subscribers that are slow or fail. */

import { type BusEvent, syncRequested } from '../../../shared/bus/events.ts';
import { type InProcessBus, inProcessBus, type Subscriber } from '../../../shared/bus/in-process.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { recordingLog } from '../../support/recording-log.ts';
import type { Life } from './life.ts';

/** `loses`: as if its queue had been full. */
export type SubscriberFault = 'loses' | 'slow' | 'fails';
export const subscriberNames = ['alerts', 'status-sync'] as const;

export type BusFaults = {
  /** What a subscriber does from now on. */
  fault: { readonly subscriber: (typeof subscriberNames)[number]; readonly how: SubscriberFault } | undefined;
  /** Each publication of the process comes within a burst, as where hundreds of targets change at once. */
  hasBursts: boolean;
  /** Times that a queue was full, and that a subscriber failed as often as it may. */
  readonly reached: { full: number; failed: number };
};

type BusPorts = { readonly random: Random; readonly productRandom: Random; readonly faults: BusFaults };

/** Of the events of a subscriber that loses some, or fails. */
const lostShare = 0.7;
const failsShare = 0.9;
const slowMsMax = 4_000;
/** 10,000 in production. Far more than the events that the few targets of this world make at once. */
const queueMax = 60;
const burstMax = 150;
/** Whose events come in bursts: they are gone when a subscriber reads them. */
const goneTargets = 400;

export function simulatedBus(life: Life, { random, productRandom, faults }: BusPorts): InProcessBus {
  const { clock } = life;
  const log = recordingLog();
  const counted: typeof log = {
    ...log,
    warn(message) {
      if (message.startsWith('events dropped')) faults.reached.full += 1;
      if (message.startsWith('event dropped')) faults.reached.failed += 1;
    },
  };
  const bus = inProcessBus({ clock, random: productRandom, log: counted, queueMax });
  const burst = (): readonly BusEvent[] => {
    if (!faults.hasBursts) return [];
    return Array.from({ length: Math.floor(random.next() * burstMax) }, () => {
      const name = `gone-${Math.floor(random.next() * goneTargets)}`;
      const about = { namespace: 'default', name, uid: name };
      return syncRequested(about, { reason: 'Due', id: `burst-${name}`, timeMs: clock.nowMs() });
    });
  };
  const faulty =
    (name: string | undefined, subscriber: Subscriber): Subscriber =>
    async (event) => {
      const how = faults.fault?.subscriber === name ? faults.fault?.how : undefined;
      if (how === 'slow') await sleep(clock, random.next() * slowMsMax);
      if (how === 'loses' && random.next() < lostShare) return;
      if (how === 'fails' && random.next() < failsShare) throw new Error('the subscriber fails');
      await subscriber(event);
    };
  return {
    ...bus,
    publish: async (events) => {
      await bus.publish(burst());
      return bus.publish(events);
    },
    subscribe: (pattern, subscriber, options) => bus.subscribe(pattern, faulty(options?.name, subscriber), options),
  };
}
