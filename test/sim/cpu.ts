/**
 * CPU that takes time. Each step of a process occupies its event loop as long as in a small function; answers and
 * timers wait meanwhile. Costs are those of one vCPU, so a process with a share of one takes longer.
 */
import type { Item, Store } from '../../shared/store/store.ts';
import type { Life } from './clock.ts';
import type { Caller } from './process.ts';

export type CpuModel = {
  /** Share of one vCPU that a process has. */
  readonly vcpus: number;
  /** By role, where it differs. */
  readonly vcpusOf?: Readonly<Record<string, number>>;
};

/**
 * ms of one vCPU, an x86 core at 2.5 GHz. Calls, items and operations: the client's side of `dynamodbStore` (a get 0.9
 * ms, 100 queried items 5 ms, a transaction of 100 operations 4.6 ms). Probes: shared/core/shards/weight.ts, three
 * times the exchange alone. An adopted target: 0.21 to 0.59 ms, at a reload of 390 targets.
 */
const cost = {
  /** A timer or an answer that does nothing more. */
  turnMs: 0.01,
  awsCallMs: 0.8,
  itemMs: 0.04,
  operationMs: 0.04,
  adoptedTargetMs: 0.35,
  httpProbeMs: 0.5,
  grpcProbeMs: 0.8,
  tcpProbeMs: 0.2,
  dialMs: 0.05,
} as const;

export const turnCostMs = cost.turnMs;

/** Calls cost half before the request leaves, half when its answer is read. */
export function costlyCaller(caller: Caller): Caller {
  const { life } = caller;
  return {
    life,
    async call(site, send) {
      const halfMs = callCostMs(site) / 2;
      spend(life, halfMs);
      const answer = await caller.call(site, send);
      spend(life, halfMs);
      return answer;
    },
  };
}

/** Reads cost by the items returned, writes by their operations. A TARGET costs again when it is first looked into. */
export function costlyStore(store: Store, life: Life): Store {
  const read = (items: readonly Item[]) => {
    spend(life, items.length * cost.itemMs);
    return items.map((item) => (item.kind === 'TARGET' ? costlyTarget(item, life) : item));
  };
  return {
    get: async (key, options) => {
      const item = await store.get(key, options);
      return item && read([item])[0];
    },
    query: async (query) => read(await store.query(query)),
    write(operations, options) {
      spend(life, operations.length * cost.operationMs);
      return store.write(operations, options);
    },
  };
}

/** Adopting is charged where it happens, so that adopting in slices shows. */
function costlyTarget(item: Item, life: Life): Item {
  const { spec, ...rest } = item;
  let isNew = true;
  return Object.defineProperty(rest, 'spec', {
    enumerable: true,
    get() {
      if (isNew) spend(life, cost.adoptedTargetMs);
      isNew = false;
      return spec;
    },
  }) as Item;
}

function callCostMs(site: string): number {
  switch (site) {
    case 'probe http':
      return cost.httpProbeMs;
    case 'probe grpc':
      return cost.grpcProbeMs;
    case 'probe tcp':
      return cost.tcpProbeMs;
    case 'dial':
    case 'resolve':
      return cost.dialMs;
    case 'socket of the store':
      return 0;
    default:
      return cost.awsCallMs;
  }
}

export function spend({ loop }: Life, vcpuMs: number): void {
  loop?.spend(vcpuMs);
}
