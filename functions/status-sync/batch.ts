/** An event of the mapping of status-sync's queue: records, each of which carries one event of the bus. */
import * as z from 'zod';
import type { TargetName } from '../../shared/manager/status-sync.ts';

export type Hint = { readonly messageId: string; readonly target: TargetName };

export type MalformedRecord = {
  /** Absent: not even that can be told, and so nothing can be reported of it. */
  readonly messageId?: string;
  readonly detail: string;
  /** It has not been received before, and so not been logged. */
  readonly isFirst: boolean;
};

export type Batch = { readonly hints: readonly Hint[]; readonly malformed: readonly MalformedRecord[] };

const eventSchema = z.object({ Records: z.array(z.unknown()) });

const recordSchema = z.object({
  messageId: z.string().min(1),
  body: z.string(),
  attributes: z.object({ ApproximateReceiveCount: z.string() }).optional(),
});

/** Names are no longer than this; what is in them is not believed but looked up. */
const nameCharactersMax = 253;
const name = z.string().min(1).max(nameCharactersMax);

/** Only what names a target is looked at: a payload is not believed. */
const envelopeSchema = z.object({ detail: z.object({ target: z.object({ namespace: name, name }) }) });

/** Of a malformed event, that it is one record without an id. */
export function decodeBatch(event: unknown): Batch {
  const parsed = eventSchema.safeParse(event);
  if (!parsed.success) return { hints: [], malformed: [{ detail: z.prettifyError(parsed.error), isFirst: true }] };
  const records = parsed.data.Records.map(decodeRecord);
  return {
    hints: records.flatMap((record) => ('target' in record ? [record] : [])),
    malformed: records.flatMap((record) => ('target' in record ? [] : [record])),
  };
}

function decodeRecord(record: unknown): Hint | MalformedRecord {
  const parsed = recordSchema.safeParse(record);
  if (!parsed.success) {
    const messageId = messageIdOf(record);
    return { detail: z.prettifyError(parsed.error), isFirst: true, ...(messageId && { messageId }) };
  }
  const { messageId, body, attributes } = parsed.data;
  const envelope = envelopeSchema.safeParse(jsonOf(body));
  if (envelope.success) return { messageId, target: envelope.data.detail.target };
  const isFirst = Number(attributes?.ApproximateReceiveCount ?? 1) <= 1;
  return { messageId, detail: z.prettifyError(envelope.error), isFirst };
}

function messageIdOf(record: unknown): string | undefined {
  const parsed = recordSchema.pick({ messageId: true }).safeParse(record);
  return parsed.success ? parsed.data.messageId : undefined;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
