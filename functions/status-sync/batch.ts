/** Decodes a batch from the mapping of status-sync's queue. Each record contains one event of the bus. */
import * as z from 'zod';
import type { TargetName } from '../../shared/status-sync/sync.ts';

export type Hint = { readonly messageId: string; readonly target: TargetName };

export type MalformedRecord = {
  /** Absent if the record has no valid id, in which case its failure cannot be reported. */
  readonly messageId?: string;
  readonly detail: string;
  /** The record was not received before and therefore not logged. */
  readonly isFirst: boolean;
};

export type Batch = { readonly hints: readonly Hint[]; readonly malformed: readonly MalformedRecord[] };

const eventSchema = z.object({ Records: z.array(z.unknown()) });

const recordSchema = z.object({
  messageId: z.string().min(1),
  body: z.string(),
  attributes: z.object({ ApproximateReceiveCount: z.string() }).optional(),
});

/** The limit for names. They are only looked up, not trusted. */
const nameCharactersMax = 253;
const name = z.string().min(1).max(nameCharactersMax);

/** Decodes only the target's name, because status-sync does not rely on the payload. */
const envelopeSchema = z.object({ detail: z.object({ target: z.object({ namespace: name, name }) }) });

/** A malformed event counts as one record without an id. */
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
