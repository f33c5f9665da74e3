/** Receivers of alerts that misbehave, and what a person sees there. */

import type { alertSender } from '../../../functions/local/alerts/alert-sender.ts';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import type { SendOutcome } from '../../../shared/alerts/delivery.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { forever, type Life } from './life.ts';

export type ReceiverFault = 'refuses' | 'hangs' | 'loses answers' | 'well';

export type Receiver = {
  readonly name: string;
  fault: ReceiverFault;
  /** Whether this alert has an incident of this name open, as PagerDuty counts: by batch, which the last end closes. */
  isOpen(alert: string, name: string): boolean;
  /** A person closes all that is open. */
  closeAll(): void;
};

type Open = { readonly alert: string; readonly names: Set<string> };

type Ports = { readonly clock: Clock; readonly random: Random };

const answerMsMax = 500;

export function simulatedReceiver(name: string): Receiver & { readonly take: (notification: Notification) => void } {
  const batches = new Map<string, Open>();
  const seen = new Set<string>();
  return {
    name,
    fault: 'well',
    isOpen: (alert, incident) => [...batches.values()].some((open) => open.alert === alert && open.names.has(incident)),
    closeAll() {
      batches.clear();
      seen.clear();
    },
    take({ id, kind, batch, alert, incidents, remaining }) {
      if (seen.has(id)) return;
      seen.add(id);
      const { names } = batches.get(batch) ?? { names: new Set() };
      batches.set(batch, { alert, names });
      for (const { name: incident } of incidents) {
        if (kind === 'resolved') names.delete(incident);
        else names.add(incident);
      }
      if (kind === 'resolved' && remaining === 0) batches.delete(batch);
    },
  };
}

/** What stands in place of the product's sender. */
export function senderTo(
  receivers: ReadonlyMap<string, ReturnType<typeof simulatedReceiver>>,
  life: Life,
  { clock, random }: Ports,
): typeof alertSender {
  const send = async (name: string, notification: Notification): Promise<SendOutcome> => {
    const receiver = receivers.get(name);
    if (!receiver || !life.alive) return forever();
    const { fault } = receiver;
    await sleep(clock, random.next() * answerMsMax);
    if (!life.alive) return forever();
    if (fault === 'hangs') return forever();
    if (fault === 'refuses') return { kind: 'failed', why: 'status 500' };
    receiver.take(notification);
    await sleep(clock, random.next() * answerMsMax);
    if (!life.alive) return forever();
    return fault === 'loses answers' ? { kind: 'failed', why: 'ECONNRESET' } : { kind: 'delivered' };
  };
  return () => ({ send, configure: () => undefined, close: async () => undefined });
}
