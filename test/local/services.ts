/** What a control process and its workers share, in memory. */
import type { Clock } from '../../shared/lib/clock.ts';
import { inProcessQueue } from '../../shared/queue/in-process.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';

export function servicesInMemory(clock: Clock) {
  const queue = inProcessQueue({ clock, visibilityMs: 15_000, retentionMs: 3_600_000 });
  return { store: sqliteStore({ path: ':memory:' }), queue: { ...queue, settled: async () => {} } };
}
