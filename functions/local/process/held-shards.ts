/** The shards that a worker holds, and those whose metric series remain visible between two runs. */

import type { RunEnd } from '../../../shared/holder/run.ts';
import type { RunView, ShardMemory } from '../../../shared/holder/shard-run.ts';

export type Look = () => RunView;

export type HeldShards = {
  /** The shards held now, by name. */
  readonly views: ReadonlyMap<string, Look>;
  /** Also returns shards that wait for their next slot, which in tick mode is most of a minute. */
  shown(): readonly RunView[];
  loaded(shard: string, look: Look): void;
  /** The run with this view is over. */
  ended(shard: string, look: Look, end: RunEnd): void;
  /** Hides shards that the process neither holds nor remembers. */
  forget(memory: ShardMemory): void;
};

export function heldShards(): HeldShards {
  const views = new Map<string, Look>();
  const shown = new Map<string, Look>();
  return {
    views,
    shown: () => [...shown.values()].map((look) => look()),
    loaded(shard, look) {
      views.set(shard, look);
      shown.set(shard, look);
    },
    ended(shard, look, { kind }) {
      if (views.get(shard) === look) views.delete(shard);
      if (shown.get(shard) === look && kind !== 'slotDone') shown.delete(shard);
    },
    forget(memory) {
      for (const shard of shown.keys()) if (!views.has(shard) && !memory.has(shard)) shown.delete(shard);
    },
  };
}
