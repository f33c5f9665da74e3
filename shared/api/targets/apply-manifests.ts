/** Puts manifests one after the other. Each has its outcome; a refused manifest does not stop the others. */

import { valueSize } from '../../lib/json.ts';
import { pacer, sliceMs } from '../../lib/slices.ts';
import { targetAddress } from '../../store/records/keys.ts';
import { problemOfError } from '../http/failure.ts';
import { depthMax, valuesMax } from '../http/json.ts';
import { type Checked, invalidFields, type Problem, problemDocument } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { type DecodedManifest, decodeNamedManifest, nameIn } from '../schema/decode-manifest.ts';
import type { ManifestEntry } from '../schema/manifest-list.ts';
import type { TargetView } from '../schema/target-schema.ts';
import { freshnessReader, type ReadFreshness } from './freshness.ts';
import { type ManifestChange, notBegun, type PutMark, putManifest, putMark, putsMsMax } from './put-manifest.ts';
import { targetView } from './target-view.ts';

/** A Lambda answer is limited to 6 MB, in which every quotation mark counts twice. */
export const answerBytesMax = 3_000_000;

export type AppliedManifest = Omit<ManifestEntry, 'manifest'> & {
  readonly namespace: string;
  readonly name?: string;
  readonly status: number;
  /** Absent if there is a problem. */
  readonly change?: ManifestChange;
  readonly warning?: string;
  /** Absent if the answer would become too large. */
  readonly target?: TargetView;
  readonly problem?: ReturnType<typeof problemDocument>;
};

export type AppliedManifests = {
  readonly kind: 'applied';
  readonly failed: number;
  readonly items: readonly AppliedManifest[];
};

/** A problem if the store was unreachable for every manifest, or each met a bug. */
export async function applyManifests(
  deps: ApiDeps,
  entries: readonly ManifestEntry[],
  namespace: string,
  dryRun: boolean,
): Promise<AppliedManifests | Problem> {
  const apply = applier(deps, namespace, dryRun);
  const bounded = boundedItems();
  const items: AppliedManifest[] = [];
  let first: Outcome | undefined;
  for (const entry of entries) {
    const outcome = await apply(entry);
    first ??= outcome;
    // Shortened here and not at the end, so that the memory in use is bounded too.
    items.push(bounded(itemOf(entry, namespace, outcome)));
  }
  const isFailure = items.every(({ status }) => status >= 500);
  if (first?.kind === 'problem' && isFailure) return first;
  return { kind: 'applied', failed: items.filter((item) => item.problem).length, items };
}

type Outcome = (PutMark & { readonly kind: 'put'; readonly target: TargetView }) | Problem;

function applier(deps: ApiDeps, namespace: string, dryRun: boolean): (entry: ManifestEntry) => Promise<Outcome> {
  const { clock, log } = deps;
  const endMs = clock.monotonicMs() + putsMsMax;
  const pause = deps.pause ?? pacer(clock, sliceMs);
  const decode = namedOnce(namespace);
  const readFreshness = freshnessReader(deps);
  return async (entry) => {
    await pause();
    const decoded = decode(entry);
    if (decoded.kind === 'problem') return decoded;
    if (clock.monotonicMs() > endMs) return notBegun;
    try {
      return await putEntry(deps, entry, decoded.value, dryRun, readFreshness);
    } catch (error) {
      return problemOfError(log, error);
    }
  };
}

/** Each name may occur once. */
function namedOnce(namespace: string): (entry: ManifestEntry) => Checked<DecodedManifest> {
  const names = new Set<string>();
  return ({ manifest }) => {
    if (manifest.kind === 'problem') return manifest;
    if (valueSize(manifest.value, { valuesMax, depthMax }).kind !== 'counted') return tooManyValues;
    const name = nameIn(manifest.value);
    if (name !== undefined && names.has(name)) return nameTwice;
    if (name !== undefined) names.add(name);
    return decodeNamedManifest(manifest.value, namespace);
  };
}

/** As for the body of one target. */
const tooManyValues = invalidFields([{ pointer: '', detail: `must have at most ${valuesMax} values` }]);

/** A second manifest of a target would undo what the first one has just done. */
export const nameTwice = invalidFields([
  { pointer: '/metadata/name', detail: 'must be unique in the body, is used twice' },
]);

async function putEntry(
  deps: ApiDeps,
  entry: ManifestEntry,
  manifest: DecodedManifest,
  dryRun: boolean,
  readFreshness: ReadFreshness,
): Promise<Outcome> {
  const body = entry.manifest.kind === 'ok' ? entry.manifest.value : undefined;
  const outcome = await putManifest(deps, body, manifest, dryRun);
  if (outcome.kind === 'problem') return outcome;
  const { namespace, name } = manifest.target;
  const freshness = await readFreshness(targetAddress(namespace, name).bucket);
  const target = targetView(outcome.stored, { freshness, nowMs: deps.clock.nowMs() });
  return { kind: 'put', ...putMark(body, manifest, outcome, deps.advise), target };
}

function itemOf(entry: ManifestEntry, namespace: string, outcome: Outcome): AppliedManifest {
  const { manifest, ...place } = entry;
  const name = manifest.kind === 'ok' ? nameIn(manifest.value) : undefined;
  const { status } = outcome;
  const item = { ...place, namespace, ...(name !== undefined && { name }), status };
  if (outcome.kind === 'problem') return { ...item, problem: problemDocument(outcome) };
  const { target, warning, change } = outcome;
  return { ...item, change, ...(warning !== undefined && { warning }), target };
}

/** Once the answer is full, items no longer include their target or their list of errors. */
function boundedItems(): (item: AppliedManifest) => AppliedManifest {
  let bytes = 0;
  return (item) => {
    bytes += Buffer.byteLength(JSON.stringify(item));
    if (bytes <= answerBytesMax) return item;
    const { target: _, problem: full, ...short } = item;
    if (!full) return short;
    const { errors: __, ...withoutErrors } = full;
    return { ...short, problem: withoutErrors };
  };
}
