/**
 * Stores targets in batches, several of them at once, and hands over what was done with each target, in order. Many go
 * to the route that takes a target a line, if the server has it.
 */

import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { AppliedManifest } from '../../../shared/api/targets/apply-manifests.ts';
import type { ConvertedTarget } from '../../../shared/manifest/convert.ts';
import { membersOf } from '../../../shared/manifest/values.ts';
import type { Session } from './connection.ts';
import { inOrder } from './in-order.ts';

/** Of the mark of targets that `apply` has stored: which targets belong together. */
export const setLabel = 'probelet.dev/apply-set';

export type Applying = {
  readonly set: string;
  readonly dryRun: boolean;
  /** Whether to ask what each target was before. */
  readonly hasBefore: boolean;
  /** Whether the stored targets are wanted, which answers to lines do not have. */
  readonly hasTargets: boolean;
};

/** `target`: absent where the answer would become too large, and in answers to lines. */
type Applied = Omit<AppliedManifest, 'document' | 'item'>;

export type Outcome = {
  readonly wanted: ConvertedTarget;
  readonly applied: Applied;
  /** Of a target that changes, if it was asked for. */
  readonly before?: TargetView;
};

type BatchLimits = { readonly manifestsMax: number; readonly bytesMax: number };

/** Limits of the API, which takes at most 1 MiB: the rest is for what is around the manifests. */
const listLimits: BatchLimits = { manifestsMax: 100, bytesMax: 900 * 1024 };
const listsAtOnce = 4;
const beforeAtOnce = 8;
/** The API does as much of a batch as it can in 20 s. So often is it sent the rest. */
const roundsMax = 10;

/** Fewer targets go in one list. */
const linesTargetsMin = 50;
/** What an API on AWS stores in 20 s, and takes: Lambda gets at most 6 MB, and these lines in base64. */
const lineLimits: BatchLimits = { manifestsMax: 1_000, bytesMax: 4_000_000 };
/** While the answers to one batch are read, the server has the next. */
const lineBatchesAtOnce = 2;

type Entry = { readonly wanted: ConvertedTarget; readonly manifest: unknown };
type Batch = readonly Entry[];

/** @throws ClientError */
export function appliedTargets(
  session: Session,
  targets: readonly ConvertedTarget[],
  applying: Applying,
): AsyncGenerator<Outcome> {
  const { hasBefore, hasTargets } = applying;
  const areMany = targets.length >= linesTargetsMin && !hasBefore && !hasTargets;
  return areMany ? appliedByLines(session, targets, applying) : appliedByLists(session, targets, applying);
}

async function* appliedByLines(
  session: Session,
  targets: readonly ConvertedTarget[],
  applying: Applying,
): AsyncGenerator<Outcome> {
  const { set, dryRun } = applying;
  let hasRoute = true;
  const apply = async (batch: Batch): Promise<readonly Outcome[]> => {
    const send = (manifests: readonly unknown[]) => session.client.applyLines({ manifests, dryRun });
    const lines = hasRoute ? await completed(batch, send) : undefined;
    if (lines) return outcomesOf(batch, lines);
    hasRoute = false;
    const wanted = batch.map((entry) => entry.wanted);
    const outcomes: Outcome[] = [];
    for await (const outcome of appliedByLists(session, wanted, applying)) outcomes.push(outcome);
    return outcomes;
  };
  for await (const outcomes of inOrder(batchesOf(targets, set, lineLimits), lineBatchesAtOnce, apply)) yield* outcomes;
}

async function* appliedByLists(
  session: Session,
  targets: readonly ConvertedTarget[],
  applying: Applying,
): AsyncGenerator<Outcome> {
  const batches = listsOf(targets, applying.set);
  for await (const outcomes of inOrder(batches, listsAtOnce, (list) => applyList(session, list, applying)))
    yield* outcomes;
}

type List = { readonly namespace: string; readonly batch: Batch };

/** Each of one namespace. */
function* listsOf(targets: readonly ConvertedTarget[], set: string): Generator<List> {
  for (const [namespace, own] of Map.groupBy(targets, (each) => each.namespace))
    for (const batch of batchesOf(own, set, listLimits)) yield { namespace, batch };
}

/** Made one by one, so that the marked copies of only a few batches are held. */
function* batchesOf(
  targets: readonly ConvertedTarget[],
  set: string,
  { manifestsMax, bytesMax }: BatchLimits,
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

async function applyList(session: Session, { namespace, batch }: List, { dryRun, hasBefore }: Applying) {
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

type Answer = Partial<Pick<Applied, 'namespace'>> & Omit<Applied, 'namespace'>;

const outcomesOf = (batch: Batch, answers: readonly Answer[]): readonly Outcome[] =>
  batch.flatMap(({ wanted }, index) => {
    const answer = answers[index];
    return answer ? [{ wanted, applied: { namespace: wanted.namespace, ...answer } }] : [];
  });

/** In the order of the batch: what the server had no time for is sent again. undefined: nothing can be sent so. */
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
