/** Stores targets in batches, several of them at once, and hands over what was done with each target, in order. */
import type { AppliedManifest } from '../../shared/api/apply-manifests.ts';
import type { TargetView } from '../../shared/api/target-schema.ts';
import type { ConvertedTarget } from '../../shared/manifest/convert.ts';
import { membersOf } from '../../shared/manifest/values.ts';
import type { Session } from './connection.ts';
import { inOrder } from './in-order.ts';

/** Of the mark of targets that `apply` has stored: which targets belong together. */
export const setLabel = 'probelet.dev/apply-set';

export type Applying = {
  readonly set: string;
  readonly dryRun: boolean;
  /** Whether to ask what each target was before. */
  readonly hasBefore: boolean;
};

export type Outcome = {
  readonly wanted: ConvertedTarget;
  readonly applied: AppliedManifest;
  /** Of a target that changes, if it was asked for. */
  readonly before?: TargetView;
};

/** Limits of the API, which takes at most 1 MiB: the rest is for what is around the manifests. */
const batchManifestsMax = 100;
const batchBytesMax = 900 * 1024;
const batchesAtOnce = 4;
const beforeAtOnce = 8;
/** The API does as much of a batch as it can in 20 s. So often is it sent the rest. */
const roundsMax = 10;

type Entry = { readonly wanted: ConvertedTarget; readonly manifest: unknown };
type Batch = { readonly namespace: string; readonly entries: readonly Entry[] };

/** @throws ClientError */
export async function* appliedTargets(
  session: Session,
  targets: readonly ConvertedTarget[],
  applying: Applying,
): AsyncGenerator<Outcome> {
  const batches = batchesOf(targets, applying.set);
  for await (const outcomes of inOrder(batches, batchesAtOnce, (batch) => applyBatch(session, batch, applying)))
    yield* outcomes;
}

/** Made one by one, so that the marked copies of only a few batches are held. */
function* batchesOf(targets: readonly ConvertedTarget[], set: string): Generator<Batch> {
  for (const [namespace, own] of Map.groupBy(targets, (each) => each.namespace)) {
    let entries: Entry[] = [];
    let bytes = 0;
    for (const wanted of own) {
      const manifest = marked(wanted.manifest, set);
      const size = Buffer.byteLength(JSON.stringify(manifest));
      if (entries.length === batchManifestsMax || (entries.length > 0 && bytes + size > batchBytesMax)) {
        yield { namespace, entries };
        entries = [];
        bytes = 0;
      }
      entries.push({ wanted, manifest });
      bytes += size;
    }
    yield { namespace, entries };
  }
}

function marked(manifest: unknown, set: string): unknown {
  const metadata = membersOf(membersOf(manifest).metadata);
  const labels = { ...membersOf(metadata.labels), [setLabel]: set };
  return { ...membersOf(manifest), metadata: { ...metadata, labels } };
}

async function applyBatch(session: Session, batch: Batch, { dryRun, hasBefore }: Applying) {
  const planned = hasBefore ? await sentBatch(session, batch, true) : undefined;
  const before = await beforeOf(session, planned ?? []);
  const applied = planned && dryRun ? planned : await sentBatch(session, batch, dryRun);
  return batch.entries.flatMap(({ wanted }, index): readonly Outcome[] => {
    const done = applied[index];
    const was = before.get(wanted.name);
    return done ? [{ wanted, applied: done, ...(was && { before: was }) }] : [];
  });
}

/** In the order of the batch. */
async function sentBatch({ client }: Session, { namespace, entries }: Batch, dryRun: boolean) {
  const applied: AppliedManifest[] = [];
  let left = entries.map((_, index) => index);
  for (let round = 1; left.length > 0 && round <= roundsMax; round += 1) {
    const manifests = left.map((index) => entries[index]?.manifest);
    const items = await client.apply({ namespace, manifests, dryRun });
    const sent = left;
    left = [];
    for (const [at, index] of sent.entries()) {
      const item = items[at];
      if (item) applied[index] = item;
      if (item && isNotBegun(item)) left.push(index);
    }
  }
  return applied;
}

const isNotBegun = ({ problem }: AppliedManifest): boolean => problem?.type === 'urn:probelet:problem:not-begun';

async function beforeOf({ client }: Session, planned: readonly AppliedManifest[]) {
  const before = new Map<string, TargetView>();
  const changed = planned.filter(({ change }) => change === 'configured');
  const read = async ({ namespace, name = '' }: AppliedManifest) => client.target({ namespace, name });
  for await (const target of inOrder(changed, beforeAtOnce, read)) if (target) before.set(target.metadata.name, target);
  return before;
}
