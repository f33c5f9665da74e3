/** A new target in a namespace, by POST, under its given name or a generated one. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { targetAddress } from '../../store/records/keys.ts';
import { manifestMediaTypes, readBody } from '../http/body.ts';
import { dryRunParam, readFlag } from '../http/parameters.ts';
import { type Problem, problemResponse } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { type Handler, namespaceParams, type Route, severalTargets, targetsPath } from '../ports/route.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';
import { decodeNewManifest, type NewManifest } from '../schema/new-name.ts';
import { type SentIdentity, sentIdentity, withoutIdentity } from '../schema/sent-identity.ts';
import { answerChange, targetAnswer } from '../targets/answer-target.ts';
import { changeTarget, type TargetChange } from '../targets/change-target.ts';
import { planCreate } from '../targets/target-plans.ts';

/** Generated names to try if each is taken, as in Kubernetes (apiserver, RetryGenerateName). */
const generatedNamesMax = 8;

/** A separate schema, not an extension: the OpenAPI description of a closed schema cannot be extended. */
const metadata = z
  .strictObject({
    ...manifestSchema.shape.metadata.unwrap().shape,
    generateName: z.string().optional().openapi({
      description: 'What the name begins with; five random characters follow. Used where there is no name.',
    }),
  })
  .openapi('NewTargetMetadata');

const newTargetSchema = z.strictObject({ ...manifestSchema.shape, metadata }).openapi('NewTargetManifest', {
  description: 'As TargetManifest, with a name or a generateName.',
});

export type NewTargetManifest = z.infer<typeof newTargetSchema>;

const create: Handler = async (request, deps) => {
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const body = await readBody(request.raw, manifestMediaTypes, { deps, several: severalTargets });
  if (body.kind === 'problem') return problemResponse(body);
  const { namespace = '' } = request.params;
  const manifest = decodeNewManifest(body.value, namespace, deps.random);
  if (manifest.kind === 'problem') return problemResponse(manifest);
  const identity = sentIdentity(body.value);
  if (identity.kind === 'problem') return problemResponse(identity);
  const outcome = await createTarget(deps, manifest.value, identity.value, dryRun.value);
  const ignored = withoutIdentity(body.value, manifest.value.ignored);
  return answerChange(deps, outcome, { status: 201, ignored, isNew: true, isAdvised: true });
};

/** If a generated name is taken, another is generated; a given one is refused. */
async function createTarget(
  deps: ApiDeps,
  { target, rename }: NewManifest,
  identity: SentIdentity,
  dryRun: boolean,
): Promise<TargetChange | Problem> {
  let wanted = target;
  for (let attempt = 1; ; attempt += 1) {
    const address = targetAddress(wanted.namespace, wanted.name);
    const context = { address, identity, preconditions: { mustBeNew: false }, nowMs: deps.clock.nowMs() };
    const plan = planCreate(context, wanted, deps.random.uuid());
    const outcome = await changeTarget(deps, address, plan, 'TargetWritten', dryRun);
    const isTaken = outcome.kind === 'problem' && outcome.slug === 'already-exists';
    if (!isTaken || !rename || attempt === generatedNamesMax) return outcome;
    wanted = { ...target, name: rename() };
  }
}

const answer = targetAnswer('Registered.');

export const targetCreateRoutes: readonly Route[] = [
  {
    method: 'post',
    path: targetsPath,
    summary: 'Registers a new target, of the name in its metadata or of a generated one',
    params: namespaceParams,
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: newTargetSchema, required: true },
    answers: { 201: { ...answer, headers: { ...answer.headers, Location: 'The path of the target.' } } },
    problems: [409, 413, 415, 422, 429],
    handle: create,
  },
];
