/** Sees what a holder commits, publishes and beats, and when. */
import type { Bus } from '../../../shared/bus/bus.ts';
import type { BusEvent } from '../../../shared/bus/events.ts';
import type { Operation, Store } from '../../../shared/store/store.ts';

export type Witness = {
  wrapStore(store: Store): Store;
  wrapBus<Wrapped extends Bus>(bus: Wrapped): Wrapped;
  /** Instants at which a target was first published as failed, in order; monotonic. */
  readonly published: readonly number[];
  /** Targets that were last published as not ready. */
  readonly notReady: ReadonlySet<string>;
  /** How often the prober doubted itself: failures do not count meanwhile. */
  doubts(): number;
  /** Forgets the commits and beats so far. */
  begin(): void;
  commitsInBestSecond(): number;
  /** The longest time without a beat since `begin`, up to now. */
  beatGapMs(): number;
};

export function witness(): Witness {
  const failed = new Set<string>();
  const published: number[] = [];
  const notReady = new Set<string>();
  let commits = new Map<number, number>();
  let beatAtMs = performance.now();
  let beatGapMs = 0;

  const beat = () => {
    beatGapMs = Math.max(beatGapMs, performance.now() - beatAtMs);
    beatAtMs = performance.now();
  };
  const committed = (count: number) => {
    const second = Math.floor(performance.now() / 1_000);
    commits.set(second, (commits.get(second) ?? 0) + count);
  };
  let doubts = 0;
  const publish = (event: BusEvent) => {
    if (event.detailType === 'Prober Degraded') doubts += 1;
    if (event.detailType === 'Target Status Changed') {
      const ready = event.detail.newStatus.conditions.find(({ type }) => type === 'Ready');
      notReady[ready?.status === 'False' ? 'add' : 'delete'](event.detail.target.uid);
    }
    if (event.detailType !== 'Probe Result Changed' || event.detail.result !== 'failure') return;
    if (failed.has(event.detail.target.uid)) return;
    failed.add(event.detail.target.uid);
    published.push(performance.now());
  };
  return {
    wrapStore: (store) => ({
      ...store,
      async write(operations, options) {
        const outcome = await store.write(operations, options);
        if (outcome.kind !== 'written') return outcome;
        const probes = operations.filter(isCommit).length;
        if (probes > 0) committed(probes);
        if (operations.some(isBeat)) beat();
        return outcome;
      },
    }),
    wrapBus: (bus) => ({
      ...bus,
      publish(events, options) {
        for (const event of events) publish(event);
        return bus.publish(events, options);
      },
    }),
    published,
    notReady,
    doubts: () => doubts,
    begin() {
      commits = new Map();
      beatAtMs = performance.now();
      beatGapMs = 0;
    },
    commitsInBestSecond: () => Math.max(0, ...commits.values()),
    beatGapMs: () => Math.max(beatGapMs, performance.now() - beatAtMs),
  };
}

const isCommit = (operation: Operation): boolean => operation.kind === 'update' && operation.key.sk.includes('#PROBE#');

const isBeat = (operation: Operation): boolean => operation.kind === 'update' && operation.set?.beat !== undefined;
