/** A holder over a shard world whose loop is never started: a test runs the steps of its workers itself. */
import { HeldTargets } from '../../shared/holder/held-targets.ts';
import { type Holder, holderOf } from '../../shared/holder/holder.ts';
import { type Loop, startLoop } from '../../shared/holder/probing/due-loop.ts';
import type { HeldTarget } from '../../shared/holder/probing/held.ts';
import { adoptTarget } from '../../shared/holder/probing/reconcile.ts';
import type { Run } from '../../shared/holder/run.ts';
import { encodeEpoch } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { readTarget } from '../../shared/table/targets.ts';
import type { ShardWorld } from './shard-world.ts';

const token = 1;

export type BareHolder = {
  readonly run: Run;
  readonly loop: Loop;
  readonly holder: Holder;
  /** Claims the bucket of a registered target of the namespace `default`, and holds the target. */
  hold(name: string): Promise<HeldTarget>;
};

export function bareHolder(world: ShardWorld): BareHolder {
  const run = world.bareRun(token);
  const loop = startLoop(run);
  const holder = holderOf(run, loop, { targets: new HeldTargets(), takenOver: undefined, inDoubt: false });
  return {
    run,
    loop,
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
