/** One decoded manifest, stored or checked: what every route calls that puts targets, for each of them. */
import { targetAddress } from '../../store/records/keys.ts';
import type { ApiDeps } from '../deps.ts';
import type { Preconditions } from '../http/etag.ts';
import { type Problem, problem } from '../http/problem.ts';
import type { DecodedManifest } from '../schema/decode-manifest.ts';
import { sentIdentity, withoutIdentity } from '../schema/sent-identity.ts';
import { type Changed, changeTarget } from './change-target.ts';
import { planPut } from './target-plans.ts';
import { fileOf, warnedOf, warningTexts } from './warnings.ts';

/** API Gateway times out after 30 s, and the client would not learn what was stored. */
export const putsMsMax = 20_000;

/** kubectl's words for what was done. */
export const manifestChanges = ['created', 'configured', 'unchanged'] as const;
export type ManifestChange = (typeof manifestChanges)[number];

export type ManifestPut = {
  /** As it was sent. */
  readonly body: unknown;
  readonly manifest: DecodedManifest;
  /** Absent: none. */
  readonly preconditions?: Preconditions;
  readonly dryRun: boolean;
};

/** @throws StoreUnavailable when the store stays unreachable, or other writers are faster every time */
export async function putManifest(
  deps: ApiDeps,
  { body, manifest: { target }, preconditions = { mustBeNew: false }, dryRun }: ManifestPut,
): Promise<Changed | Problem> {
  const identity = sentIdentity(body);
  if (identity.kind === 'problem') return identity;
  const address = targetAddress(target.namespace, target.name);
  const context = { address, identity: identity.value, preconditions, nowMs: deps.clock.nowMs() };
  const plan = planPut(context, target, deps.random.uuid());
  return changeTarget(deps, { address, plan, reason: 'TargetWritten', dryRun });
}

export type PutMark = { readonly status: 200 | 201; readonly change: ManifestChange; readonly warning?: string };

/** What an answer of several lines says of a target that was put. */
export function putMark(
  deps: Pick<ApiDeps, 'advise'>,
  { body, manifest: { ignored } }: Pick<ManifestPut, 'body' | 'manifest'>,
  { stored, before, created, changed }: Changed,
): PutMark {
  const { spec } = stored.target;
  const warned = warnedOf(spec, deps.advise?.(spec) ?? []);
  const warning = warningTexts({ file: fileOf(before), ignored: withoutIdentity(body, ignored), ...warned }).join('; ');
  const done = created
    ? ({ status: 201, change: 'created' } as const)
    : ({ status: 200, change: changed ? 'configured' : 'unchanged' } as const);
  return { ...done, ...(warning !== '' && { warning }) };
}

export const notBegun = problem(
  503,
  'not-begun',
  `Not begun: the manifests before it took ${putsMsMax / 1_000} s. Send the body again.`,
);
