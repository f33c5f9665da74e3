/** A holder over a shard world whose loop is never started: a test runs the steps of its workers itself. */
import { HeldTargets } from '../../shared/holder/held-targets.ts';
import type { Holder } from '../../shared/holder/holder.ts';
import { inheritedFrom } from '../../shared/holder/inherited.ts';
import type { DueLoop } from '../../shared/holder/probing/due-loop.ts';
import { adoptTarget } from '../../shared/holder/probing/reconcile.ts';
import type { HeldTarget } from '../../shared/holder/probing/worker.ts';
import type { Run } from '../../shared/holder/run.ts';
import { ShardRun } from '../../shared/holder/shard-run.ts';
import { encodeEpoch } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { readTarget } from '../../shared/table/targets.ts';
import type { ShardWorld } from './shard-world.ts';

const token = 1;

export type BareHolder = {
  readonly run: Run;
  readonly loop: DueLoop;
  readonly holder: Holder;
  /** Claims the bucket of a registered target of the namespace `default`, and holds the target. */
  hold(name: string): Promise<HeldTarget>;
};

export function bareHolder(world: ShardWorld): BareHolder {
  const run = world.bareRun(token);
  const holder = bareRunOf(run);
  return {
    run,
    loop: holder.loop,
    holder,
    async hold(name) {
      const address = targetAddress('default', name);
      const epoch = encodeEpoch(address.bucket, { token, shard: run.message.shard, claimedAtMs: 0 });
      await world.store.write([{ kind: 'put', item: epoch }], { token: `claim ${name}` });
      const read = await readTarget(world.store, address);
      if (!read) throw new Error(`no target ${name}`);
      return adoptTarget(holder, read, {});
    },
  };
}

/** A run that has claimed its shard and begun nothing. */
export const bareRunOf = (run: Run, targets = new HeldTargets()): ShardRun =>
  new ShardRun(run, { kind: 'warm', inherited: inheritedFrom([]), before: undefined }, targets, undefined, {});

/** The same holder with other parts. */
export const holderWith = (holder: Holder, parts: Partial<Holder>): Holder => ({
  run: holder.run,
  targets: holder.targets,
  commits: holder.commits,
  publisher: holder.publisher,
  againPace: holder.againPace,
  self: holder.self,
  surgeLimit: holder.surgeLimit,
  takenOver: holder.takenOver,
  publishSurge: () => holder.publishSurge(),
  schedule: (worker) => holder.schedule(worker),
  scheduleTarget: (held, dueMs) => holder.scheduleTarget(held, dueMs),
  reread: (held) => holder.reread(held),
  reload: (held) => holder.reload(held),
  ...parts,
});
