/** The answer that shows one target, with its entity tag. */

import { planSync } from '../../core/status/sync.ts';
import { targetAddress } from '../../store/records/keys.ts';
import { entityTag } from '../http/etag.ts';
import { jsonResponse, type Problem, problemResponse } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import type { Answer } from '../ports/route.ts';
import { targetViewSchema } from '../schema/target-schema.ts';
import type { TargetChange } from './change-target.ts';
import { freshnessReader } from './freshness.ts';
import type { StoredTarget } from './stored-target.ts';
import { targetView } from './target-view.ts';
import { fileOf, noSpecWarnings, specWarnings, warningHeader, warningTexts } from './warnings.ts';

const etagDescription = 'The resourceVersion of spec and metadata; the status has its own.';
const warningDescription =
  'Names the fields that were not stored, since they do not concern probing, the probes that can never run, and likely mistakes.';

export const targetAnswer = (description: string): Answer => ({
  description,
  schema: targetViewSchema,
  headers: { ETag: etagDescription, Warning: warningDescription },
});

export type AnswerOptions = {
  readonly status: number;
  readonly ignored?: readonly string[];
  /** The answer then contains the target's location, because the request named only its namespace. */
  readonly isNew?: boolean;
  /** Whether to warn of probes that can never run and of likely mistakes; only on registration and change. */
  readonly isAdvised?: boolean;
  /** The file of the configuration whose target a client has changed. */
  readonly file?: string | undefined;
};

export async function answerTarget(
  deps: ApiDeps,
  stored: StoredTarget,
  { status, ignored = [], isNew = false, isAdvised = false, file }: AnswerOptions,
): Promise<Response> {
  const { namespace, name, resourceVersion } = stored.target;
  const freshness = await freshnessReader(deps)(targetAddress(namespace, name).bucket);
  const view = targetView(stored, { freshness, nowMs: deps.clock.nowMs() });
  const location = isNew && { location: `/v1/namespaces/${namespace}/targets/${name}` };
  const warnings = isAdvised ? specWarnings(stored, deps.advise) : noSpecWarnings;
  const warning = warningHeader(warningTexts(ignored, file, warnings));
  const headers = { etag: entityTag(resourceVersion), ...location, ...warning };
  return jsonResponse(status, view, headers);
}

/** The outcome of a change: the problem, or the target after it. */
export async function answerChange(
  deps: ApiDeps,
  outcome: TargetChange | Problem,
  options: AnswerOptions,
): Promise<Response> {
  if (outcome.kind === 'problem') return problemResponse(outcome);
  return answerTarget(deps, withStatusAfter(outcome.stored, deps.clock.nowMs()), options);
}

/** With the status that follows from the change, as status-sync is about to write it. */
function withStatusAfter(stored: StoredTarget, nowMs: number): StoredTarget {
  const { target, report, status, probes } = stored;
  if (!status) return stored;
  const { observedResourceVersion, observedReportVersion } = status;
  const isBehind =
    observedResourceVersion !== target.resourceVersion || observedReportVersion !== (report?.version ?? 0);
  if (!isBehind) return stored;
  const plan = planSync({ target, status, probes, ...(report && { report }) }, nowMs);
  if (plan.kind !== 'write') return stored;
  const { status: after, restartRequests } = plan.record;
  // The observed versions stay: status-sync has not observed this change yet.
  return { ...stored, status: { ...status, status: after, restartRequests } };
}

/** The same for a change of the client's part, which a configuration that also has the target will undo. */
export async function answerWrite(
  deps: ApiDeps,
  outcome: TargetChange | Problem,
  options: AnswerOptions,
): Promise<Response> {
  return answerChange(
    deps,
    outcome,
    outcome.kind === 'problem' ? options : { ...options, file: fileOf(outcome.before) },
  );
}
