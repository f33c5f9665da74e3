/** The alerts of one target that fails and recovers, while their process is killed at random points. */
import type { Notification } from '../../shared/alerts/alert-state.ts';
import { type AlertLog, startAlerting } from '../../shared/alerts/alerting.ts';
import type { SendOutcome } from '../../shared/alerts/delivery.ts';
import type { KeptAlerts } from '../../shared/alerts/kept-alerts.ts';
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { virtualClock } from '../support/virtual-clock.ts';
import { rulesOf, seen } from './alert-world.ts';

/** What survives a kill. */
export type KeptLog = {
  /** For one process. Once it is killed, its saves have no effect. */
  readonly openedBy: (isKilled: () => boolean) => AlertLog;
  /** What a kill leaves behind. */
  readonly killed: () => Promise<void>;
};

type KeptBy = { readonly clock: Clock; readonly random: Random };

export type Life = {
  readonly seed: number;
  readonly kills: number;
  readonly kept: (by: KeptBy) => KeptLog;
  /** Resolves when everything that is still under way waits for the clock. */
  readonly quiet: () => Promise<void>;
};

const forever = <Value>() => new Promise<Value>(() => undefined);

/** Returns what arrived, in order. */
export async function killedLife({ seed, kills, kept, quiet }: Life): Promise<readonly Notification[]> {
  const random = seededRandom(seed);
  const clock = virtualClock({ quiet });
  const log = kept({ clock, random });
  const arrived: Notification[] = [];
  const rules = rulesOf('');
  const sinceMs = clock.nowMs();
  let ready: 'True' | 'False' = 'False';
  const begin = async () => {
    let isKilled = false;
    const send = async (_: string, notification: Notification): Promise<SendOutcome> => {
      if (isKilled) return forever();
      await sleep(clock, random.next() * 200);
      if (isKilled && random.next() < 0.5) return forever();
      arrived.push(notification);
      await sleep(clock, random.next() * 200);
      return { kind: 'delivered' };
    };
    const ports = { clock, random, log: recordingLog(), send, alertLog: log.openedBy(() => isKilled) };
    const alerting = startAlerting({ rules, receivers: ['ops'] }, ports);
    alerting.offer(seen('a', ready, { sinceMs }));
    return {
      kill: async () => {
        isKilled = true;
        void alerting.stop();
        await log.killed();
      },
      offer: alerting.offer,
      stop: alerting.stop,
    };
  };
  let process = await begin();
  const passWithKills = async (count: number) => {
    for (let kill = 0; kill < count; kill += 1) {
      await clock.advance(random.next() * 8_000);
      await process.kill();
      process = await begin();
    }
    await clock.advance(12_000);
  };
  await passWithKills(Math.ceil(kills / 2));
  ready = 'True';
  process.offer(seen('a', ready, { sinceMs: clock.nowMs() }));
  await passWithKills(Math.floor(kills / 2));
  await clock.runUntil(process.stop());
  return arrived;
}

/** A log that takes its time. A kill comes before or after the moment in which a save replaces the old value. */
export function keptInMemory({ clock, random }: KeptBy): KeptLog {
  let text: string | undefined;
  return {
    openedBy: (isKilled) => ({
      load: async () => (text === undefined ? undefined : (JSON.parse(text) as KeptAlerts)),
      async save(value) {
        const next = JSON.stringify(value);
        await sleep(clock, random.next() * 50);
        if (isKilled()) return forever();
        text = next;
        await sleep(clock, random.next() * 50);
      },
      setAside: async () => undefined,
    }),
    killed: async () => undefined,
  };
}
