/** The prober itself: its shards, the release that holds each, and the age of what each has observed. */
import type { LayoutRecord, RunRecord } from '../../store/records/shard-records.ts';
import '../http/zod-openapi.ts';
import * as z from 'zod';
import type { LayoutShard } from '../../core/shards/layout.ts';
import { type Decoded, decodeLayout, decodeRun } from '../../store/records/items.ts';
import { hashRangeOf, layoutKey, runKey } from '../../store/records/keys.ts';
import type { Item, Key } from '../../store/store.ts';
import { jsonResponse } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import type { Handler, Route } from '../ports/route.ts';
import { instantText } from '../targets/instant-text.ts';

const instant = z.string();

const shardSchema = z.object({
  shard: z.string(),
  hashRange: z.string().openapi({ description: 'The hashes of its targets’ names.' }),
  mode: z.enum(['idle', 'tick', 'resident']).openapi({
    description: 'idle: it has no targets. tick: it is held once a minute. resident: it is held all the time.',
  }),
  generation: z.int(),
  release: z.string().optional().openapi({ description: 'The release of the run that holds it, or held it last.' }),
  beat: instant.optional().openapi({ description: 'The last heartbeat of its run. Absent: there was none.' }),
  observed: instant.optional().openapi({ description: 'When every probe that was due had last been made.' }),
  degraded: z.boolean().optional().openapi({ description: 'Its run doubts itself: what it observes does not count.' }),
  overloaded: z.boolean().optional().openapi({ description: 'More probes are due than can begin in time.' }),
});

const proberSchema = z
  .object({
    release: z.object({
      desired: z
        .string()
        .optional()
        .openapi({ description: 'The release that every shard is to have. Absent: any release.' }),
      trial: z.object({ shard: z.string(), since: instant }).optional().openapi({
        description: 'The shard that tries the desired release; the others follow once it has probed there.',
      }),
      refused: z.string().optional().openapi({ description: 'The last release whose trial has failed.' }),
    }),
    shards: z.array(shardSchema),
  })
  .openapi('Prober');

export type ProberView = z.infer<typeof proberSchema>;

/** Shards whose RUN is read at the same time. */
const readsAtOnce = 16;

const getProber: Handler = async (_, deps) => {
  const layout = await readLayout(deps);
  const shards: ProberView['shards'] = [];
  const layoutShards = layout?.shards ?? [];
  for (let at = 0; at < layoutShards.length; at += readsAtOnce) {
    const some = layoutShards.slice(at, at + readsAtOnce);
    shards.push(...(await Promise.all(some.map(async (shard) => shardView(shard, await readRun(deps, shard))))));
  }
  return jsonResponse(200, { release: layout ? releaseView(layout) : {}, shards } satisfies ProberView);
};

const readLayout = (deps: ApiDeps): Promise<LayoutRecord | undefined> => read(deps, layoutKey, decodeLayout);

const readRun = (deps: ApiDeps, { shard }: LayoutShard): Promise<RunRecord | undefined> =>
  read(deps, runKey(shard), decodeRun);

/** undefined: there is none, or it cannot be read. */
async function read<Record>(
  { store, onPoison }: ApiDeps,
  key: Key,
  decode: (item: Item) => Decoded<Record>,
): Promise<Record | undefined> {
  const item = await store.get(key, { eventuallyConsistent: true });
  const decoded = item && decode(item);
  if (decoded?.kind === 'poison') onPoison?.(decoded);
  return decoded?.kind === 'ok' ? decoded.record : undefined;
}

const releaseView = ({ desiredRelease, trial, refused }: LayoutRecord): ProberView['release'] => ({
  ...(desiredRelease !== '' && { desired: desiredRelease }),
  ...(trial && { trial: { shard: trial.shard, since: instantText(trial.sinceMs) } }),
  ...(refused !== undefined && { refused }),
});

function shardView(layoutShard: LayoutShard, run: RunRecord | undefined): ProberView['shards'][number] {
  const { shard, mode, generation } = layoutShard;
  const known = { shard, hashRange: hashRangeOf(layoutShard), mode, generation };
  if (run?.generation !== generation) return known;
  const { release, beatAtMs, observedAtMs, degraded, overloaded = false } = run;
  return {
    ...known,
    ...(release !== undefined && { release }),
    beat: instantText(beatAtMs),
    observed: instantText(observedAtMs),
    degraded,
    overloaded,
  };
}

export const proberRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/v1/prober',
    summary: 'The shards of the prober, the release that holds each, and how current each is',
    answers: { 200: { description: 'The shards.', schema: proberSchema } },
    problems: [],
    handle: getProber,
  },
];
