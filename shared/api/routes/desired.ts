/** The desired set of a namespace: kubelet's CleanupPods. What is not in it is removed, as DELETE does. */
import '../zod-openapi.ts';
import * as z from 'zod';
import { targetAddress } from '../../store/keys.ts';
import { manifestMediaTypes, readBody } from '../body.ts';
import { changeTarget } from '../change-target.ts';
import type { ApiDeps } from '../deps.ts';
import { type Checked, jsonResponse, ok, type Problem, problem, problemResponse } from '../problem.ts';
import { dryRunParam, readFlag } from '../query-params.ts';
import { type Handler, namespaceParams, type Route } from '../route.ts';
import { scanTargets } from '../scan.ts';
import { decodeShape } from '../shape.ts';
import { planDelete } from '../target-plans.ts';

const desiredSchema = z.strictObject({ names: z.array(z.string()) }).openapi('DesiredSet');

const cleanedSchema = z
  .object({
    kept: z.array(z.string()),
    removed: z.array(z.string()).openapi({ description: 'They terminate now.' }),
    terminating: z.array(z.string()).openapi({ description: 'They terminated already.' }),
  })
  .openapi('CleanedUp');

type CleanedUp = z.infer<typeof cleanedSchema>;

/** Whoever is in front of the API gives up after 30 s, and nobody would learn how far it came. */
const cleanupMsMax = 20_000;

type Cleanup = { readonly namespace: string; readonly names: ReadonlySet<string>; readonly dryRun: boolean };

const putDesired: Handler = async (request, deps) => {
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const body = await readBody(request.raw, manifestMediaTypes);
  if (body.kind === 'problem') return problemResponse(body);
  const desired = decodeShape(desiredSchema, body.value);
  if (desired.kind === 'problem') return problemResponse(desired);
  const names = new Set(desired.value.names);
  const namespace = request.params.namespace ?? '';
  const cleaned = await cleanUp(deps, { namespace, names, dryRun: dryRun.value });
  return cleaned.kind === 'problem' ? problemResponse(cleaned) : jsonResponse(200, cleaned.value);
};

async function cleanUp(deps: ApiDeps, cleanup: Cleanup): Promise<Checked<CleanedUp>> {
  const done: CleanedUp = { kept: [], removed: [], terminating: [] };
  const endMs = deps.clock.monotonicMs() + cleanupMsMax;
  for await (const { stored } of scanTargets(deps)) {
    if (deps.clock.monotonicMs() > endMs) return unfinished(done);
    const { namespace, name, deletionTimestampMs } = stored.target;
    if (namespace !== cleanup.namespace) continue;
    if (deletionTimestampMs !== undefined) done.terminating.push(name);
    else if (cleanup.names.has(name)) done.kept.push(name);
    else if (await remove(deps, { namespace, name, uid: stored.target.uid, dryRun: cleanup.dryRun }))
      done.removed.push(name);
  }
  return ok(done);
}

/** What was removed terminates already, so it costs the next request no time. */
const unfinished = ({ removed }: CleanedUp): Problem => ({
  ...problem(
    503,
    'unfinished',
    `${removed.length} targets were removed in the time there is; send the same again to go on.`,
  ),
  headers: { 'retry-after': '1' },
});

type Removal = { readonly namespace: string; readonly name: string; readonly uid: string; readonly dryRun: boolean };

/** false: it is gone already, or another one of its name was registered in the meantime. */
async function remove(deps: ApiDeps, { namespace, name, uid, dryRun }: Removal): Promise<boolean> {
  const address = targetAddress(namespace, name);
  const planned = planDelete({ address, preconditions: { mustBeNew: false }, nowMs: deps.clock.nowMs() }, undefined);
  const outcome = await changeTarget(deps, {
    address,
    plan: (stored) => planned(stored?.target.uid === uid ? stored : undefined),
    reason: 'NotDesired',
    dryRun,
  });
  return outcome.kind === 'ok';
}

export const desiredRoutes: readonly Route[] = [
  {
    method: 'put',
    path: '/v1/namespaces/{namespace}/desired',
    summary: 'Removes every target of the namespace that is not named. Idempotent',
    params: namespaceParams,
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: desiredSchema, required: true },
    answers: { 200: { description: 'What was done.', schema: cleanedSchema } },
    problems: [400, 413, 415, 422],
    handle: putDesired,
  },
];
