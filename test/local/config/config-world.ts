/** What files of targets are registered with, in virtual time. */
import type { AskedFile, ReadTargets } from '../../../functions/local/config/file-targets.ts';
import { apiApp } from '../../../shared/api/app.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { inProcessBus } from '../../../shared/bus/in-process.ts';
import { sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import { askApi } from '../../support/api-client.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

export function configWorld(seed = 1) {
  const clock = virtualClock();
  const ports = { clock, random: seededRandom(seed), log: recordingLog() };
  const store = sqliteStore({ path: ':memory:' });
  const deps: ApiDeps = { ...ports, store, bus: inProcessBus(ports), health: () => ({ ok: true, quarantined: [] }) };
  return {
    ...{ clock, log: ports.log, store, deps },
    /** Those that are being deleted, too. */
    listed: async () => (await askApi(apiApp(deps), 'GET', '/v1/targets')).body.items,
  };
}

/** What a converter answers that is too busy to read the file. */
export const unreadAnswer = ({ name: file }: AskedFile): ReadTargets => ({
  ...{ kind: 'invalid', isUnread: true },
  errors: [{ file, line: 1, column: 1, detail: 'busy' }],
});
