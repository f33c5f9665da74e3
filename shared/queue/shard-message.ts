/**
 * Encodes and decodes shard messages. This is the only place that parses a queue's text; all other code uses the type.
 */
import * as z from 'zod';
import { sampleMax } from '../core/self/second-look.ts';
import { bucketCount } from '../core/shards/slots.ts';
import { probeType } from '../schema/terms.ts';
import type { LookMessage, ShardMessage } from './queue.ts';

/** A shard's message has some 200 characters, the longest look 2,500. A longer one is invalid and not parsed. */
const charactersMax = 4_096;
const shardCharactersMax = 128;
const placeCharactersMax = 128;

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

const lookSchema: z.ZodType<LookMessage> = z
  .object({
    kind: z.literal('look'),
    shard: z.string().min(1).max(shardCharactersMax),
    token: count,
    place: z.string().max(placeCharactersMax),
    number: count,
    sample: z
      .array(
        z.object({
          namespace: z.string(),
          name: z.string(),
          container: z.string(),
          probeType,
        }),
      )
      .max(sampleMax),
    sentAtMs: count,
  })
  .readonly();

export const encodeShardMessage = (message: ShardMessage | LookMessage): string => JSON.stringify(message);

export type DecodedShardMessage =
  | { readonly kind: 'ok'; readonly message: ShardMessage }
  | { readonly kind: 'look'; readonly message: LookMessage }
  /** A retry cannot fix the message, so it is dropped. `detail` is for the log. */
  | { readonly kind: 'malformed'; readonly detail: string };

/** Ignores unknown fields, since a newer release may send more. */
export function decodeShardMessage(body: string): DecodedShardMessage {
  if (body.length > charactersMax) return { kind: 'malformed', detail: `over ${charactersMax} characters` };
  const json = jsonOf(body);
  if (json === undefined) return { kind: 'malformed', detail: 'not JSON' };
  if (isLook(json)) return decoded('look', lookSchema.safeParse(json));
  return decoded('ok', messageSchema.safeParse(json));
}

const isLook = (json: unknown): boolean =>
  typeof json === 'object' && json !== null && 'kind' in json && json.kind === 'look';

const decoded = <Kind extends 'ok' | 'look', Message>(kind: Kind, parsed: z.ZodSafeParseResult<Message>) =>
  parsed.success
    ? { kind, message: parsed.data }
    : { kind: 'malformed' as const, detail: z.prettifyError(parsed.error) };

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
