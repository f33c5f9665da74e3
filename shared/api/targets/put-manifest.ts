/** One decoded manifest, stored or checked: what every route calls that puts targets, for each of them. */

import type { Advise } from '../../prober/advice.ts';
import { targetAddress } from '../../store/records/keys.ts';
import type { Preconditions } from '../http/etag.ts';
import { type Problem, problem } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import type { DecodedManifest } from '../schema/decode-manifest.ts';
import { sentIdentity, withoutIdentity } from '../schema/sent-identity.ts';
import { changeTarget, type TargetChange } from './change-target.ts';
import { planPut } from './target-plans.ts';
import { fileOf, specWarnings, warningTexts } from './warnings.ts';

/** API Gateway times out after 30 s, and the client would not learn what was stored. */
export const putsMsMax = 20_000;

/** kubectl's words for what was done. */
export const manifestChanges = ['created', 'configured', 'unchanged'] as const;
export type ManifestChange = (typeof manifestChanges)[number];

/**
 * @param body the manifest as it was sent
 * @throws StoreUnavailable when the store stays unreachable, or other writers are faster every time
 */
export async function putManifest(
  deps: ApiDeps,
  body: unknown,
  { target }: DecodedManifest,
  dryRun: boolean,
  preconditions: Preconditions = { mustBeNew: false },
): Promise<TargetChange | Problem> {
  const identity = sentIdentity(body);
  if (identity.kind === 'problem') return identity;
  const address = targetAddress(target.namespace, target.name);
  const context = { address, identity: identity.value, preconditions, nowMs: deps.clock.nowMs() };
  const plan = planPut(context, target, deps.random.uuid());
  return changeTarget(deps, address, plan, 'TargetWritten', dryRun);
}

export type PutMark = { readonly status: 200 | 201; readonly change: ManifestChange; readonly warning?: string };

/** The lines about one target in an answer about many. */
export function putMark(
  body: unknown,
  { ignored }: DecodedManifest,
  { stored, before, created, changed }: TargetChange,
  advise: Advise | undefined,
): PutMark {
  const warning = warningTexts(withoutIdentity(body, ignored), fileOf(before), specWarnings(stored, advise)).join('; ');
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
