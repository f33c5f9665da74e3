/** A shard of many targets that fail at once, and whose statuses are not written until the test lets them. */
import { sleep } from '../../../shared/lib/clock.ts';
import type { Store } from '../../../shared/store/store.ts';
import { writeSettled } from '../../support/settled-targets.ts';
import { shardWorld } from '../../support/shard-world.ts';

const readMs = 20;

/** A shard of many targets, all of them ready, whose store answers reads after a while and says how many there were. */
export async function massWorld(targets: number) {
  let [reads, under, most] = [0, 0, 0];
  let isSlow = false;
  const counted = async <Answer>(read: () => Promise<Answer>): Promise<Answer> => {
    reads += 1;
    under += 1;
    most = Math.max(most, under);
    if (isSlow) await sleep(world.clock, readMs);
    under -= 1;
    return read();
  };
  const wrapStore = (store: Store): Store => ({
    ...store,
    get: (key, options) => counted(() => store.get(key, options)),
    query: (query) => counted(() => store.query(query)),
  });
  const stored: { at?: Store } = {};
  const world = shardWorld({
    wrapStore(store) {
      stored.at = store;
      return wrapStore(store);
    },
  });
  world.sync(false);
  await writeSettled(stored.at as Store, { targets, port: 1, periodSeconds: 10 });
  /** What the test itself waits for takes no time, since the clock stands still meanwhile. */
  const run = async () => {
    isSlow = false;
    const begun = await world.run();
    isSlow = true;
    return begun;
  };
  return {
    world,
    run,
    /** A run in which all targets are ready, then fail, and are published. */
    async runUntilFailed() {
      const begun = await run();
      await world.clock.advance(30_000);
      world.answer(() => 'failure');
      await world.until('all are published', () => countOf(world) === targets);
      return begun;
    },
    begin() {
      [reads, most] = [0, 0];
    },
    reads: () => reads,
    readsAtOnce: () => most,
  };
}

/** How many targets were published as failed. */
export const countOf = ({ publishedEvents }: ReturnType<typeof shardWorld>): number =>
  new Set(publishedEvents('Probe Result Changed').map(({ target }) => target.name)).size;
