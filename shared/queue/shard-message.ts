/** A shard message as text: what a queue carries is decoded once, here, and typed ever after. */
import * as z from 'zod';
import { bucketCount } from '../core/slots.ts';
import type { ShardMessage } from './queue.ts';

/** Ours have some 200; what is longer is not ours, and not worth parsing. */
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
    mode: z.literal('tick').exactOptional(),
  })
  .readonly();

export const encodeShardMessage = (message: ShardMessage): string => JSON.stringify(message);

export type DecodedShardMessage =
  | { readonly kind: 'ok'; readonly message: ShardMessage }
  /** No repetition cures it: it is dropped. `detail` is for the log. */
  | { readonly kind: 'malformed'; readonly detail: string };

/** Unknown fields are left out: a newer release may send more. */
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
