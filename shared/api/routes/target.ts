/** One target: register or replace, read, patch, remove. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { gracePeriodSecondsMax } from '../../core/spec/limits.ts';
import { targetAddress } from '../../store/records/keys.ts';
import { manifestMediaTypes, mergePatchMediaTypes, readBody } from '../http/body.ts';
import { readPreconditions } from '../http/etag.ts';
import { mergePatch } from '../http/merge-patch.ts';
import { dryRunParam, readFlag, readWhole, wholeParam } from '../http/parameters.ts';
import { invalidFields, problemResponse } from '../http/problem.ts';
import { type Handler, type Route, severalTargets, targetNameOf, targetParams, targetPath } from '../ports/route.ts';
import { annotatedLifecycle } from '../schema/annotations.ts';
import { decodeManifest } from '../schema/decode-manifest.ts';
import { keptOutOfManifest } from '../schema/kept-out.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';
import { sentIdentity, withoutIdentity } from '../schema/sent-identity.ts';
import { answerTarget, answerWrite, targetAnswer } from '../targets/answer-target.ts';
import { changeTarget } from '../targets/change-target.ts';
import { putManifest } from '../targets/put-manifest.ts';
import { noSuchTarget, readTargetOr, type StoredTarget } from '../targets/stored-target.ts';
import { notAsMeant, planDelete, replace } from '../targets/target-plans.ts';
import { specView } from '../targets/target-view.ts';

const ifMatch = z.string().optional().openapi({ description: 'Entity tags of which one must be the target’s, or *.' });
const mergePatchSchema = z.object({}).catchall(z.unknown()).openapi('MergePatch');

export type MergePatch = z.infer<typeof mergePatchSchema>;

const common = { path: targetPath, params: targetParams } as const;
const writing = { query: z.object({ dryRun: dryRunParam }), headers: z.object({ 'If-Match': ifMatch }) } as const;

const get: Handler = async (request, deps) => {
  const read = await readTargetOr(deps, targetNameOf(request));
  return read.kind === 'problem' ? problemResponse(read) : answerTarget(deps, read.value, { status: 200 });
};

const put: Handler = async (request, deps) => {
  const name = targetNameOf(request);
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const preconditions = readPreconditions(request.raw.headers);
  if (preconditions.kind === 'problem') return problemResponse(preconditions);
  const body = await readBody(request.raw, manifestMediaTypes, { deps, several: severalTargets });
  if (body.kind === 'problem') return problemResponse(body);
  const manifest = decodeManifest(body.value, name);
  if (manifest.kind === 'problem') return problemResponse(manifest);

  const outcome = await putManifest(deps, body.value, manifest.value, dryRun.value, preconditions.value);
  const status = outcome.kind === 'ok' && outcome.created ? 201 : 200;
  const ignored = withoutIdentity(body.value, manifest.value.ignored);
  return answerWrite(deps, outcome, { status, ignored, isAdvised: true });
};

const patch: Handler = async (request, deps) => {
  const name = targetNameOf(request);
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const preconditions = readPreconditions(request.raw.headers);
  if (preconditions.kind === 'problem') return problemResponse(preconditions);
  const body = await readBody(request.raw, mergePatchMediaTypes, { deps });
  if (body.kind === 'problem') return problemResponse(body);
  const identity = sentIdentity(body.value);
  if (identity.kind === 'problem') return problemResponse(identity);

  const address = targetAddress(name.namespace, name.name);
  const nowMs = deps.clock.nowMs();
  const context = { address, preconditions: preconditions.value, identity: identity.value, nowMs };
  const plan = (stored: StoredTarget | undefined) => {
    if (!stored) return noSuchTarget;
    const failed = notAsMeant(context, stored);
    if (failed) return failed;
    const wanted = decodeManifest(mergePatch(patchable(stored), body.value), name);
    return wanted.kind === 'problem' ? wanted : replace(context, stored, wanted.value.target);
  };
  const isObject = typeof body.value === 'object' && body.value !== null && !Array.isArray(body.value);
  const outcome = isObject
    ? await changeTarget(deps, address, plan, 'TargetWritten', dryRun.value)
    : invalidFields([{ pointer: '', detail: 'must be an object' }]);
  const { ignored } = keptOutOfManifest(body.value);
  const kept = withoutIdentity(body.value, ignored);
  return answerWrite(deps, outcome, { status: 200, ignored: kept, isAdvised: true });
};

/**
 * The object that a patch applies to: the part of a target that a client decides, with its defaults. A lifecycle that
 * an annotation sets stays in the annotation, so that a patch of the annotation does not contradict its old value.
 */
function patchable({ target }: StoredTarget) {
  const { labels, annotations } = target;
  const { lifecycle, ...spec } = specView(target);
  const isAnnotated = annotatedLifecycle(annotations) === lifecycle;
  return { metadata: { labels, annotations }, spec: isAnnotated ? spec : { ...spec, lifecycle } };
}

const graceRange = { min: 0, max: gracePeriodSecondsMax };

const remove: Handler = async (request, deps) => {
  const { namespace, name } = targetNameOf(request);
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const grace = readWhole(request.query, 'gracePeriodSeconds', graceRange);
  if (grace.kind === 'problem') return problemResponse(grace);
  const preconditions = readPreconditions(request.raw.headers);
  if (preconditions.kind === 'problem') return problemResponse(preconditions);

  const address = targetAddress(namespace, name);
  const plan = planDelete(address, preconditions.value, grace.value, deps.clock.nowMs());
  const outcome = await changeTarget(deps, address, plan, 'DeletionRequested', dryRun.value);
  return answerWrite(deps, outcome, { status: 202 });
};

export const targetRoutes: readonly Route[] = [
  {
    ...common,
    method: 'get',
    summary: 'One target with its status',
    answers: { 200: targetAnswer('The target.') },
    problems: [404, 409],
    handle: get,
  },
  {
    ...common,
    method: 'put',
    summary: 'Registers a target, or replaces its spec, labels and annotations. Idempotent',
    query: writing.query,
    headers: z.object({
      'If-Match': ifMatch,
      'If-None-Match': z.literal('*').optional().openapi({ description: 'The target must not exist yet.' }),
    }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: manifestSchema, required: true },
    answers: { 200: targetAnswer('The target existed; this is what it is now.'), 201: targetAnswer('Registered.') },
    problems: [409, 412, 413, 415, 422, 429],
    handle: put,
  },
  {
    ...common,
    method: 'patch',
    summary: 'Changes a target by a JSON merge patch (RFC 7396)',
    ...writing,
    body: {
      mediaTypes: Object.keys(mergePatchMediaTypes),
      schema: mergePatchSchema,
      required: true,
    },
    answers: { 200: targetAnswer('What the target is now.') },
    problems: [404, 409, 412, 413, 415, 422, 429],
    handle: patch,
  },
  {
    ...common,
    method: 'delete',
    summary: 'Begins the termination of a target. Repeatable; a shorter grace period brings its end forward',
    query: z.object({
      dryRun: dryRunParam,
      gracePeriodSeconds: wholeParam(graceRange, 'Instead of the spec’s; 0: at once.'),
    }),
    headers: writing.headers,
    answers: {
      202: targetAnswer('The target terminates; liveness and startup probes stop, readiness continues until the end.'),
    },
    problems: [404, 409, 412],
    handle: remove,
  },
];
