/** The desired set of a namespace: kubelet's CleanupPods. Targets outside it are removed as by DELETE. */
import '../http/zod-openapi.ts';
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { TargetRecord } from '../../core/spec/records.ts';
import { targetAddress } from '../../store/records/keys.ts';
import { manifestMediaTypes, readBody } from '../http/body.ts';
import { dryRunParam, readFlag } from '../http/parameters.ts';
import { type Checked, invalidFields, invalidParameters, jsonResponse, ok, problemResponse } from '../http/problem.ts';
import { continueToken, readContinueToken } from '../lists/list-page.ts';
import { type Position, scanTargets } from '../lists/scan.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { type Handler, namespaceParams, type Route } from '../ports/route.ts';
import { decodeShape } from '../schema/shape.ts';
import { changeTarget } from '../targets/change-target.ts';
import type { StoredTarget } from '../targets/stored-target.ts';
import { planDelete } from '../targets/target-plans.ts';

export const desiredSchema = z
  .strictObject({ names: z.array(z.string()) })
  .openapi('DesiredSet', { description: 'As JSON at most 1 MiB, as YAML at most 64 KiB.' });

const cleanedSchema = z
  .object({
    kept: z.array(z.string()),
    removed: z.array(z.string()).openapi({ description: 'They terminate now.' }),
    terminating: z.array(z.string()).openapi({ description: 'They terminated already.' }),
    continue: z
      .string()
      .optional()
      .openapi({ description: 'With 202: send the same body with it to continue. Absent: this is all.' }),
  })
  .openapi('CleanedUp');

export type CleanedUp = z.infer<typeof cleanedSchema>;

/** The gateway in front of the API times out after 30 s, and the client would not learn how far the request came. */
const cleanupMsMax = 20_000;
/** Size of the names in one answer: a Lambda answer is limited to 6 MB, in which every quotation mark counts twice. */
const answerBytesMax = 3_000_000;
/** Overhead of one name: quotation marks, their escapes and a comma. */
const nameOverheadBytes = 5;

const putDesired: Handler = async (request, deps) => {
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const body = await readBody(request.raw, manifestMediaTypes, { deps, isLarge: true });
  if (body.kind === 'problem') return problemResponse(body);
  const desired = decodeDesired(body.value);
  if (desired.kind === 'problem') return problemResponse(desired);
  const names = new Set<string>();
  for (const [index, name] of desired.value.entries()) {
    if (index % namesAtOnce === 0) await deps.pause?.();
    names.add(name);
  }
  await deps.pause?.();
  const namespace = request.params.namespace ?? '';
  const of = digestOf(namespace, names, dryRun.value);
  await deps.pause?.();
  const token = request.query.get('continue') ?? '';
  const from = token === '' ? undefined : readContinueToken(token, of);
  if (token !== '' && !from) return problemResponse(foreignToken);
  const done: CleanedUp = { kept: [], removed: [], terminating: [] };
  const more = await cleanUp(deps, namespace, names, from, dryRun.value, done);
  return more ? jsonResponse(202, { ...done, continue: continueToken(more, of) }) : jsonResponse(200, done);
};

/** Names that one piece of work of a few milliseconds takes. */
const namesAtOnce = 10_000;
/** Fields of the body. Each unknown one would be named. */
const fieldsMax = 100;

/** Looks at the names one by one, because a schema takes far longer. */
function decodeDesired(body: unknown): Checked<readonly string[]> {
  const fields: object = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  if (Object.keys(fields).length > fieldsMax)
    return invalidFields([{ pointer: '', detail: `must have at most ${fieldsMax} fields` }]);
  const given: readonly unknown[] | undefined =
    'names' in fields && Array.isArray(fields.names) ? fields.names : undefined;
  const shaped = decodeShape(desiredSchema, given ? { ...fields, names: [] } : body);
  if (shaped.kind === 'problem') return shaped;
  const isText = (name: unknown): name is string => typeof name === 'string';
  const names = given ?? [];
  if (names.every(isText)) return ok(names);
  const errors = names.flatMap((name, index) =>
    isText(name) ? [] : [{ pointer: `/names/${index}`, detail: 'must be a string' }],
  );
  return invalidFields(errors);
}

const foreignToken = invalidParameters([
  { parameter: 'continue', detail: 'must be a token from an answer to the same request' },
]);

/** With a different set of names, the token would apply the new set to only a part of the targets. */
function digestOf(namespace: string, names: ReadonlySet<string>, dryRun: boolean): string {
  const text = JSON.stringify([namespace, dryRun, [...names]]);
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * Removes what is not named, and notes it in `done`. Returns the position at which the time was up or the answer full;
 * undefined: this was all.
 */
async function cleanUp(
  deps: ApiDeps,
  namespace: string,
  names: ReadonlySet<string>,
  from: Position | undefined,
  dryRun: boolean,
  done: CleanedUp,
): Promise<Position | undefined> {
  const endMs = deps.clock.monotonicMs() + cleanupMsMax;
  let bytes = 0;
  let last: Position | undefined;
  for await (const { stored, position } of scanTargets(deps, { namespace, from })) {
    // After at least one target, so that every request makes progress.
    if (last && (deps.clock.monotonicMs() > endMs || bytes > answerBytesMax)) return last;
    last = position;
    if (!stored) continue;
    const { name, deletionTimestampMs } = stored.target;
    bytes += name.length + nameOverheadBytes;
    if (deletionTimestampMs !== undefined) done.terminating.push(name);
    else if (names.has(name)) done.kept.push(name);
    else if (await remove(deps, stored.target, dryRun)) done.removed.push(name);
  }
  return undefined;
}

/** false: it is gone already, or its name was registered again in the meantime. */
async function remove(deps: ApiDeps, { namespace, name, uid }: TargetRecord, dryRun: boolean): Promise<boolean> {
  const address = targetAddress(namespace, name);
  const plan = planDelete(address, { mustBeNew: false }, undefined, deps.clock.nowMs());
  const planSame = (stored: StoredTarget | undefined) => plan(stored?.target.uid === uid ? stored : undefined);
  const outcome = await changeTarget(deps, address, planSame, 'NotDesired', dryRun);
  return outcome.kind === 'ok';
}

const continueParam = z.string().optional().openapi({ description: 'From an answer 202 to the same body.' });

export const desiredRoutes: readonly Route[] = [
  {
    method: 'put',
    path: '/v1/namespaces/{namespace}/desired',
    summary: 'Removes every target of the namespace that is not named. Idempotent',
    params: namespaceParams,
    query: z.object({ dryRun: dryRunParam, continue: continueParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: desiredSchema, required: true },
    answers: {
      200: { description: 'What was done.', schema: cleanedSchema },
      202: {
        description: 'What was done so far: send the same body with `continue` to do the rest.',
        schema: cleanedSchema,
      },
    },
    problems: [413, 415, 422],
    handle: putDesired,
  },
];
