/** Writes of targets and reports about them. */
import * as z from 'zod';
import type { CleanedUp } from '../../shared/api/routes/desired.ts';
import type { MergePatch } from '../../shared/api/routes/target.ts';
import type { NewTargetManifest } from '../../shared/api/routes/target-create.ts';
import type { Manifest } from '../../shared/api/schema/manifest-schema.ts';
import type { StatusReport } from '../../shared/api/schema/status-report.ts';
import type { TargetView } from '../../shared/api/schema/target-schema.ts';
import type { AppliedLine } from '../../shared/api/targets/apply-lines.ts';
import type { AppliedManifest } from '../../shared/api/targets/apply-manifests.ts';
import {
  answerMark,
  appliedShape,
  cleanedShape,
  dryRunOf,
  type NamedTarget,
  namespacePathOf,
  need,
  pagesMax,
  read,
  targetPathOf,
  targetShape,
  targetsPathOf,
  type WithMark,
} from './answers.ts';
import {
  type ApiCall,
  askText,
  foreign,
  isApiProblem,
  isGatewayAnswer,
  parsedJson,
  type RequestDeps,
} from './requests.ts';

/** Fields that do not concern probing are not stored; the warning names them. */
export type PodManifest = { readonly apiVersion: 'v1'; readonly kind: 'Pod'; readonly [field: string]: unknown };

/** `dryRun`: the server answers as if it had, and stores nothing. */
export type WriteOptions = { readonly dryRun?: boolean };

/**
 * `resourceVersion`: of the target's metadata; with another one, the target stays and the error has the status 412. So
 * it may if an attempt succeeded whose answer was lost, and the request was repeated.
 */
export type ConditionalWrite = WriteOptions & { readonly resourceVersion?: string };

/** `onlyNew`: if there is such a target, it stays and the error has the status 412. */
export type Registration = ConditionalWrite & { readonly onlyNew?: boolean };

export type Removal = ConditionalWrite & {
  /** Replaces that of the spec; from 0 to a day. */
  readonly gracePeriodSeconds?: number;
};

export type WrittenTarget = {
  /** As it is then. */
  readonly target: TargetView;
  /** false: there was one. */
  readonly created: boolean;
  /** Names what was not stored, probes that can never run and likely mistakes. */
  readonly warning?: string;
};

export type NewTarget = WriteOptions & {
  readonly namespace: string;
  /** With `metadata.name`, or with `metadata.generateName`, which five random characters follow. */
  readonly manifest: NewTargetManifest | PodManifest;
};

export type ManifestBatch = {
  readonly namespace: string;
  readonly manifests: readonly unknown[];
  readonly dryRun: boolean;
};

export type DesiredTargets = WriteOptions & { readonly namespace: string; readonly names: readonly string[] };

/** Names. `removed`: they terminate now; `terminating`: they did already. */
export type CleanedTargets = Readonly<Record<keyof Omit<CleanedUp, 'continue'>, readonly string[]>>;

/** The methods of the client that change something, but for the triggers. */
export type TargetWrites = {
  /** Registers the target, or replaces its spec, labels and annotations. A target that was read may be given back. */
  register(
    named: NamedTarget,
    manifest: Manifest | PodManifest | TargetView,
    registration?: Registration,
  ): Promise<WrittenTarget>;
  /** Registers a new target. If its name is taken, the error has the status 409. Never repeated. */
  create(wanted: NewTarget): Promise<WrittenTarget>;
  /** By a JSON merge patch (RFC 7396). undefined: there is no such target. Never repeated. */
  patch(named: NamedTarget, patch: MergePatch, options?: ConditionalWrite): Promise<WrittenTarget | undefined>;
  /** Reports the containers of a target with lifecycle `reported`. undefined: there is no such target. */
  reportStatus(
    named: NamedTarget,
    report: StatusReport | PodManifest,
    options?: WriteOptions,
  ): Promise<WrittenTarget | undefined>;
  /** Begins the termination of the target. undefined: there is no such target. */
  remove(named: NamedTarget, removal?: Removal): Promise<WrittenTarget | undefined>;
  /** Stores each of at most 100 manifests; all are in the namespace. The answers are in their order. */
  apply(batch: ManifestBatch): Promise<readonly AppliedManifest[]>;
  /**
   * Stores each of at most 10,000 manifests of any namespaces (1,000 or 4 MB on AWS). The answers are in their order,
   * and have no targets. undefined: the server has no such route, or the caller's policy does not name it.
   */
  applyLines(batch: ManifestLines): Promise<readonly AppliedLine[] | undefined>;
  /** Removes every target of the namespace that is not named, in as many requests as that takes. Registers nothing. */
  desired(wanted: DesiredTargets): Promise<CleanedTargets>;
};

export function targetWrites(deps: RequestDeps): TargetWrites {
  const writtenOr404 = async (call: ApiCall) => {
    const answer = await read<TargetView>(deps, targetShape, call);
    return answer && writtenOf(answer);
  };
  return {
    register: async (named, manifest, { dryRun = false, resourceVersion, onlyNew = false } = {}) => {
      const headers = { ...conditionOf(resourceVersion), ...(onlyNew && { 'if-none-match': '*' }) };
      const call: ApiCall = { method: 'PUT', path: targetPathOf(named), query: dryRunOf(dryRun), headers };
      return writtenOf(await need(deps, targetShape, { ...call, body: manifest }));
    },
    create: async ({ namespace, manifest, dryRun = false }) => {
      const call: ApiCall = { method: 'POST', path: targetsPathOf(namespace), query: dryRunOf(dryRun) };
      return writtenOf(await need(deps, targetShape, { ...call, body: manifest }));
    },
    patch: (named, patch, { dryRun = false, resourceVersion } = {}) => {
      const headers = { 'content-type': 'application/merge-patch+json', ...conditionOf(resourceVersion) };
      const call: ApiCall = { method: 'PATCH', path: targetPathOf(named), query: dryRunOf(dryRun), headers };
      return writtenOr404({ ...call, body: patch });
    },
    reportStatus: (named, report, { dryRun = false } = {}) => {
      const call: ApiCall = { method: 'PUT', path: `${targetPathOf(named)}/status`, query: dryRunOf(dryRun) };
      return writtenOr404({ ...call, body: report });
    },
    remove: (named, { dryRun = false, resourceVersion, gracePeriodSeconds } = {}) => {
      const query = { ...dryRunOf(dryRun), gracePeriodSeconds: gracePeriodSeconds?.toString() };
      const headers = conditionOf(resourceVersion);
      return writtenOr404({ method: 'DELETE', path: targetPathOf(named), query, headers });
    },
    apply: (batch) => applyBatch(deps, batch),
    applyLines: (batch) => applyLines(deps, batch),
    desired: (wanted) => cleanNamespace(deps, wanted),
  };
}

const conditionOf = (resourceVersion: string | undefined) =>
  resourceVersion === undefined ? {} : { 'if-match': `"${resourceVersion}"` };

function writtenOf(target: TargetView & WithMark): WrittenTarget {
  const { status, warning } = target[answerMark];
  return { target, created: status === 201, ...(warning !== '' && { warning }) };
}

async function applyBatch(deps: RequestDeps, { namespace, manifests, dryRun }: ManifestBatch) {
  const { items } = await need<{ readonly items: readonly AppliedManifest[] }>(deps, appliedShape, {
    method: 'PUT',
    path: targetsPathOf(namespace),
    query: dryRunOf(dryRun),
    body: { apiVersion: 'v1', kind: 'List', items: manifests },
  });
  if (items.length !== manifests.length) throw foreign(deps.url, `has ${items.length} of ${manifests.length} items`);
  return items;
}

/** An answer 202 names what is done so far, and the token for the rest. */
async function cleanNamespace(deps: RequestDeps, { namespace, names, dryRun = false }: DesiredTargets) {
  const done: Record<keyof CleanedTargets, string[]> = { kept: [], removed: [], terminating: [] };
  const call: ApiCall = { method: 'PUT', path: `${namespacePathOf(namespace)}/desired`, body: { names } };
  let token: string | undefined;
  for (let page = 1; page <= pagesMax; page += 1) {
    const query = { ...dryRunOf(dryRun), continue: token };
    const answer: CleanedUp = await need<CleanedUp>(deps, cleanedShape, { ...call, query });
    for (const field of ['kept', 'removed', 'terminating'] as const)
      for (const name of answer[field]) done[field].push(name);
    token = answer.continue;
    if (token === undefined) return done;
  }
  throw foreign(deps.url, `has more than ${pagesMax} parts`);
}

/** Each manifest names its target by `metadata.namespace` and `metadata.name`. */
export type ManifestLines = { readonly manifests: readonly unknown[]; readonly dryRun?: boolean };

const mediaType = 'application/x-ndjson';
const lineShape = z.looseObject({ line: z.int(), status: z.int() });
/** A server or a deployment of an older release, or a policy of AWS that names the other routes only. */
const absentStatuses: readonly number[] = [403, 404, 405];

/**
 * Answers in the order of the manifests; undefined: the server has no such route for this caller.
 *
 * @throws ClientError
 */
export async function applyLines(
  deps: RequestDeps,
  { manifests, dryRun = false }: ManifestLines,
): Promise<readonly AppliedLine[] | undefined> {
  const { status, type, text } = await askText(deps, {
    method: 'PUT',
    path: '/v1/targets:apply',
    query: dryRunOf(dryRun),
    headers: { 'content-type': mediaType, accept: `${mediaType}, application/problem+json` },
    text: manifests.map((manifest) => `${JSON.stringify(manifest)}\n`).join(''),
    accepts: absentStatuses,
  });
  if (absentStatuses.includes(status)) {
    const body = parsedJson(type, text);
    if (isApiProblem(body) || isGatewayAnswer(body)) return undefined;
  }
  if (!type.startsWith(mediaType)) throw foreign(deps.url, `has the status ${status} and is ${type}`);
  const lines = text.split('\n').slice(0, -1);
  if (lines.length !== manifests.length) throw foreign(deps.url, `has ${lines.length} of ${manifests.length} lines`);
  return lines.map((line, index) => answered(deps, line, index + 1));
}

function answered({ url }: RequestDeps, text: string, number: number): AppliedLine {
  const checked = lineShape.safeParse(parsedJson('application/json', text));
  if (!checked.success || checked.data.line !== number) throw foreign(url, `lacks line ${number}`);
  return checked.data as AppliedLine;
}
