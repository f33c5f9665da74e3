/**
 * Encodes and decodes shard messages. This is the only place that parses a queue's text; all other code uses the type.
 */
import * as z from 'zod';
import { bucketCount } from '../core/slots.ts';
import type { ShardMessage } from './queue.ts';

/** A valid message has some 200 characters. A longer one is invalid and not parsed. */
const charactersMax = 4_096;
const shardCharactersMax = 128;

const count = z.int().nonnegative();

const messageSchema: z.ZodType<ShardMessage> = z
  .object({
    kind: z.enum(['slot', 'rescue']),
    shard: z.string().min(1).max(shardCharactersMax),
    generation: count,
    buckets: z
      .object({ from: count, to: count.max(bucketCount) })
      .refine(({ from, to }) => from < to, 'an empty range of buckets'),
    slot: count,
    slotEndMs: count,
    sentAtMs: count,
    seenSlot: z.int().min(-1).exactOptional(),
    mode: z.literal('tick').exactOptional(),
  })
  .readonly();

export const encodeShardMessage = (message: ShardMessage): string => JSON.stringify(message);

export type DecodedShardMessage =
  | { readonly kind: 'ok'; readonly message: ShardMessage }
  /** A retry cannot fix the message, so it is dropped. `detail` is for the log. */
  | { readonly kind: 'malformed'; readonly detail: string };

/** Ignores unknown fields, since a newer release may send more. */
export function decodeShardMessage(body: string): DecodedShardMessage {
  if (body.length > charactersMax) return { kind: 'malformed', detail: `over ${charactersMax} characters` };
  const json = jsonOf(body);
  if (json === undefined) return { kind: 'malformed', detail: 'not JSON' };
  const parsed = messageSchema.safeParse(json);
  return parsed.success
    ? { kind: 'ok', message: parsed.data }
    : { kind: 'malformed', detail: z.prettifyError(parsed.error) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
