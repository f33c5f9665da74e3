/** SQS's system attributes of a message. */
import type { Received } from './queue.ts';

/** When SQS accepted the message and when it was first received, both by SQS's clock. */
export const waitAttributes = ['SentTimestamp', 'ApproximateFirstReceiveTimestamp'] as const;

type WaitAttributes = { readonly [attribute in (typeof waitAttributes)[number]]?: string | undefined };

/** Known for the first receipt only, because SQS does not report the time of later ones. */
export function waitOf(
  attributes: WaitAttributes & { readonly ApproximateReceiveCount?: string | undefined },
): Pick<Received, 'waitedMs'> {
  const [sentAtMs, receivedAtMs] = waitAttributes.map((name) => Number(attributes[name] ?? Number.NaN));
  const waitedMs = (receivedAtMs ?? Number.NaN) - (sentAtMs ?? Number.NaN);
  return attributes.ApproximateReceiveCount === '1' && waitedMs >= 0 ? { waitedMs } : {};
}
