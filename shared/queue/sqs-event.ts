/**
 * The queue as Lambda's event source mapping delivers it: an event with records, and an answer that lists the failed
 * ones (`ReportBatchItemFailures`). Source: "Using Lambda with Amazon SQS", reporting batch item failures.
 *
 * The mapping deletes all other messages, by message and not by receipt. A run that was paused beyond its visibility
 * and then succeeded would therefore delete its successor's message. So an acknowledgement deletes the message by its
 * handle, which a FIFO queue rejects once it has expired, and the answer lists every record that was not deleted that
 * way.
 */
import * as z from 'zod';
import type { Received } from './queue.ts';
import { heldBy, type SqsOptions, waitOf } from './sqs-call.ts';

/** The largest batch of a mapping. */
const recordsMax = 10_000;

const eventSchema = z.object({
  Records: z
    .array(
      z.object({
        messageId: z.string().min(1),
        receiptHandle: z.string().min(1),
        body: z.string(),
        attributes: z.object({
          MessageGroupId: z.string(),
          ApproximateReceiveCount: z.string().regex(/^\d+$/),
          SentTimestamp: z.string().optional(),
          ApproximateFirstReceiveTimestamp: z.string().optional(),
        }),
      }),
    )
    .max(recordsMax),
});

type EventRecord = z.infer<typeof eventSchema>['Records'][number];

export type SqsEventBatch = {
  readonly received: readonly Received[];
  /** What the function returns: every record that was not acknowledged. */
  answer(): { readonly batchItemFailures: readonly { readonly itemIdentifier: string }[] };
};

export type DecodedSqsEvent =
  | { readonly kind: 'ok'; readonly batch: SqsEventBatch }
  /** The event does not come from a FIFO queue, so the deployment is wrong. `detail` is for the log. */
  | { readonly kind: 'malformed'; readonly detail: string };

export function decodeSqsEvent(event: unknown, options: SqsOptions): DecodedSqsEvent {
  const parsed = eventSchema.safeParse(event);
  if (!parsed.success) return { kind: 'malformed', detail: z.prettifyError(parsed.error) };
  const { Records: records } = parsed.data;
  const acknowledged = new Set<EventRecord>();
  const received = records.map((record) => receivedOf(options, record, () => acknowledged.add(record)));
  const answer = () => ({
    batchItemFailures: records
      .filter((record) => !acknowledged.has(record))
      .map(({ messageId }) => ({ itemIdentifier: messageId })),
  });
  return { kind: 'ok', batch: { received, answer } };
}

function receivedOf(options: SqsOptions, record: EventRecord, onAcknowledged: () => void): Received {
  const { lease, acknowledge } = heldBy(options, record.receiptHandle);
  return {
    body: record.body,
    group: record.attributes.MessageGroupId,
    receiveCount: Number(record.attributes.ApproximateReceiveCount),
    ...waitOf(record.attributes),
    lease,
    async acknowledge() {
      const deleted = await acknowledge();
      if (deleted) onAcknowledged();
      return deleted;
    },
  };
}
