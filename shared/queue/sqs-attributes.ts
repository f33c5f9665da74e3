/** What SQS says of a message beside its text. */
import type { Received } from './queue.ts';

/** When SQS took the message, and when it was first received, both by SQS's clock. */
export const waitAttributes = ['SentTimestamp', 'ApproximateFirstReceiveTimestamp'] as const;

type WaitAttributes = { readonly [attribute in (typeof waitAttributes)[number]]?: string | undefined };

/** Known at the first receipt only: SQS does not say when the later ones were. */
export function waitOf(
  attributes: WaitAttributes & { readonly ApproximateReceiveCount?: string | undefined },
): Pick<Received, 'waitedMs'> {
  const [sentAtMs, receivedAtMs] = waitAttributes.map((name) => Number(attributes[name] ?? Number.NaN));
  const waitedMs = (receivedAtMs ?? Number.NaN) - (sentAtMs ?? Number.NaN);
  return attributes.ApproximateReceiveCount === '1' && waitedMs >= 0 ? { waitedMs } : {};
}
