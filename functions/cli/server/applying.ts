/**
 * Stores targets and yields the outcome of each, in order.
 *
 * One request for each target would take minutes for thousands, and one for all would exceed the limits of the API. So
 * targets go in batches, several at once. There are two routes: a list of one namespace, whose answer can contain the
 * stored targets, and lines of any namespaces, which are faster for many. A server may have no time for the end of a
 * batch; that part is sent again. If the server does not have the route for lines, lists take its place.
 */
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { AppliedManifest } from '../../../shared/api/targets/apply-manifests.ts';
import { inOrder } from '../../../shared/lib/in-turn.ts';
import type { ConvertedTarget } from '../../../shared/manifest/convert.ts';
import { membersOf } from '../../../shared/manifest/values.ts';
import { ClientError } from '../../client/client-error.ts';
import { qualifiedName } from '../files/wanted-targets.ts';
import type { Session } from './connection.ts';

/** The label of targets that `apply` has stored. Its value says which of them belong together. */
export const setLabel = 'probelet.dev/apply-set';

export type ApplySettings = {
  readonly set: string;
  readonly dryRun: boolean;
  /** Whether to ask what each target was before. */
  readonly hasBefore: boolean;
  /** Whether the stored targets are wanted, which answers to lines do not have. */
  readonly hasTargets: boolean;
};

/** `target`: absent where the answer would become too large, and in answers to lines. */
type AppliedTarget = Omit<AppliedManifest, 'document' | 'item'>;

export type Outcome = {
  readonly wanted: ConvertedTarget;
  readonly applied: AppliedTarget;
  /** The target before a change, if that was asked for. */
  readonly before?: TargetView;
};

/** The API takes at most 1 MiB: the rest is for what is around the manifests. */
const listManifestsMax = 100;
const listBytesMax = 900 * 1024;
const listsAtOnce = 4;
const beforeAtOnce = 8;
/** Requests for one batch: the API does as much of it as it can in 20 s, and then is sent the rest. */
const roundsMax = 10;

/** Fewer targets go in one list. */
const linesTargetsMin = 50;
/** What an API on AWS stores in 20 s, and takes: Lambda gets at most 6 MB, and these lines in base64. */
const lineManifestsMax = 1_000;
const lineBytesMax = 4_000_000;
/** While the answers to one batch are read, the server has the next. */
const lineBatchesAtOnce = 2;

type Entry = { readonly wanted: ConvertedTarget; readonly manifest: unknown };
type Batch = readonly Entry[];

/** @throws ClientError */
export function appliedTargets(
  session: Session,
  targets: readonly ConvertedTarget[],
  settings: ApplySettings,
): AsyncGenerator<Outcome> {
  const { hasBefore, hasTargets } = settings;
  const areMany = targets.length >= linesTargetsMin && !hasBefore && !hasTargets;
  return areMany ? appliedByLines(session, targets, settings) : appliedByLists(session, targets, settings);
}

async function* appliedByLines(
  session: Session,
  targets: readonly ConvertedTarget[],
  settings: ApplySettings,
): AsyncGenerator<Outcome> {
  const { set, dryRun } = settings;
  let hasRoute = true;
  const apply = async (batch: Batch): Promise<readonly Outcome[]> => {
    const send = (manifests: readonly unknown[]) => session.client.applyLines({ manifests, dryRun });
    const lines = hasRoute ? await completed(batch, send) : undefined;
    if (lines) return outcomesOf(batch, lines);
    hasRoute = false;
    const wanted = batch.map((entry) => entry.wanted);
    const outcomes: Outcome[] = [];
    for await (const outcome of appliedByLists(session, wanted, settings)) outcomes.push(outcome);
    return outcomes;
  };
  const batches = batchesOf(targets, set, lineManifestsMax, lineBytesMax);
  for await (const outcomes of inOrder(batches, lineBatchesAtOnce, apply)) yield* outcomes;
}

async function* appliedByLists(
  session: Session,
  targets: readonly ConvertedTarget[],
  settings: ApplySettings,
): AsyncGenerator<Outcome> {
  const lists = listsOf(targets, settings.set);
  for await (const outcomes of inOrder(lists, listsAtOnce, (list) => applyList(session, list, settings)))
    yield* outcomes;
}

/** Batches of one namespace each. */
function* listsOf(targets: readonly ConvertedTarget[], set: string): Generator<Batch> {
  for (const own of Map.groupBy(targets, (each) => each.namespace).values())
    yield* batchesOf(own, set, listManifestsMax, listBytesMax);
}

/** Made one by one, so that the marked copies of only a few batches are held. */
function* batchesOf(
  targets: readonly ConvertedTarget[],
  set: string,
  manifestsMax: number,
  bytesMax: number,
): Generator<Batch> {
  let entries: Entry[] = [];
  let bytes = 0;
  for (const wanted of targets) {
    const manifest = marked(wanted, set);
    const size = Buffer.byteLength(JSON.stringify(manifest));
    if (entries.length === manifestsMax || (entries.length > 0 && bytes + size > bytesMax)) {
      yield entries;
      entries = [];
      bytes = 0;
    }
    entries.push({ wanted, manifest });
    bytes += size;
  }
  yield entries;
}

function marked({ manifest, namespace }: ConvertedTarget, set: string): unknown {
  const metadata = membersOf(membersOf(manifest).metadata);
  const labels = { ...membersOf(metadata.labels), [setLabel]: set };
  return { ...membersOf(manifest), metadata: { ...metadata, namespace, labels } };
}

async function applyList(session: Session, batch: Batch, { dryRun, hasBefore }: ApplySettings) {
  const namespace = batch[0]?.wanted.namespace ?? '';
  const send = (isDry: boolean) =>
    completed(batch, (manifests) => session.client.apply({ namespace, manifests, dryRun: isDry }));
  const planned = hasBefore ? await send(true) : undefined;
  const before = await beforeOf(session, planned ?? []);
  const applied = planned && dryRun ? planned : await send(dryRun);
  return outcomesOf(batch, applied ?? []).map((outcome): Outcome => {
    const was = before.get(outcome.wanted.name);
    return was ? { ...outcome, before: was } : outcome;
  });
}

type Answer = Omit<AppliedTarget, 'namespace'> & { readonly namespace?: string };

const outcomesOf = (batch: Batch, answers: readonly Answer[]): readonly Outcome[] =>
  batch.flatMap(({ wanted }, index) => {
    const answer = answers[index];
    return answer ? [{ wanted, applied: { namespace: wanted.namespace, ...answer } }] : [];
  });

/**
 * The answers in the order of the batch: what the server had no time for is sent again. undefined: `send` has no route.
 */
async function completed(
  batch: Batch,
  send: (manifests: readonly unknown[]) => Promise<readonly Answer[] | undefined>,
): Promise<readonly Answer[] | undefined> {
  const answers: Answer[] = [];
  let left = batch.map((_, index) => index);
  for (let round = 1; left.length > 0 && round <= roundsMax; round += 1) {
    const items = await send(left.map((index) => batch[index]?.manifest));
    if (!items) return undefined;
    const sent = left;
    left = [];
    for (const [at, index] of sent.entries()) {
      const item = items[at];
      if (item) answers[index] = item;
      if (item && isNotBegun(item)) left.push(index);
    }
  }
  return answers;
}

const isNotBegun = ({ problem }: Answer): boolean => problem?.type === 'urn:probelet:problem:not-begun';

async function beforeOf({ client }: Session, planned: readonly Answer[]) {
  const before = new Map<string, TargetView>();
  const changed = planned.filter(({ change }) => change === 'configured');
  const read = async ({ namespace = '', name = '' }: Answer) => client.target({ namespace, name });
  for await (const target of inOrder(changed, beforeAtOnce, read)) if (target) before.set(target.metadata.name, target);
  return before;
}

/** What became of a target that is to be deleted. `why`: it was not. */
export type PruneOutcome = { readonly name: string; readonly why?: string };

export const deletionsAtOnce = 8;
const preconditionFailed = 412;

/**
 * Deletes the targets that an earlier `apply` of the same set stored and this one does not name, in the namespaces of
 * the targets only. @throws ClientError
 */
export async function* pruneTargets(
  session: Session,
  targets: readonly ConvertedTarget[],
  set: string,
  dryRun: boolean,
): AsyncGenerator<PruneOutcome> {
  const kept = new Set(targets.map(qualifiedName));
  const stale: TargetView['metadata'][] = [];
  for (const namespace of new Set(targets.map((each) => each.namespace)))
    for await (const { metadata } of session.client.targets({ namespace, labelSelector: `${setLabel}=${set}` }))
      if (!kept.has(qualifiedName(metadata)) && metadata.deletionTimestamp === undefined) stale.push(metadata);
  yield* inOrder(stale, deletionsAtOnce, (metadata) => pruneOne(session, metadata, dryRun));
}

/** Deletes the target only as it was listed: if another `apply` has just stored it again, it stays. */
async function pruneOne({ client }: Session, metadata: TargetView['metadata'], dryRun: boolean): Promise<PruneOutcome> {
  const { namespace, name, resourceVersion } = metadata;
  try {
    await client.remove({ namespace, name }, { dryRun, resourceVersion });
    return { name };
  } catch (error) {
    if (error instanceof ClientError && error.status === preconditionFailed)
      return { name, why: 'has changed meanwhile and stays: apply again' };
    throw error;
  }
}
