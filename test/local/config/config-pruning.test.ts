import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prune } from '../../../functions/local/config/config-targets.ts';
import { apiApp } from '../../../shared/api/app.ts';
import type { ApiDeps } from '../../../shared/api/ports/deps.ts';
import { inProcessBus } from '../../../shared/bus/in-process.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import { sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import { askApi, targetPath } from '../../support/api-client.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const spec = { host: '10.0.0.1', readinessProbe: { tcpSocket: { port: 1 } } };
const ofFile = { metadata: { annotations: { 'probelet.dev/config-file': 'gone.yaml' } }, spec };

/** `meanwhile`: after its items have been read, and before it is removed. */
async function pruned(meanwhile: 'nothing' | 'a client takes it over'): Promise<boolean> {
  const clock = virtualClock();
  const stored = sqliteStore({ path: ':memory:' });
  let onRead: (() => Promise<unknown>) | undefined;
  const store: typeof stored = {
    ...stored,
    async query(asked) {
      const items = await stored.query(asked);
      const act = asked.pk === targetAddress('default', 'web').pk ? onRead : undefined;
      if (act) onRead = undefined;
      await act?.();
      return items;
    },
  };
  const ports = { clock, random: seededRandom(1), log: recordingLog() };
  const deps: ApiDeps = { ...ports, store, bus: inProcessBus(ports), health: () => ({ ok: true, quarantined: [] }) };
  const app = apiApp(deps);
  const put = (body: object) => askApi(app, 'PUT', targetPath('web'), body);
  await put(ofFile);
  if (meanwhile !== 'nothing') onRead = () => put({ spec });
  const sources = { mayExist: () => false };
  assert.equal(await prune(deps, sources, new Map(), new AbortController().signal), true);
  assert.equal(onRead, undefined);
  const { body } = await askApi(app, 'GET', targetPath('web'));
  return body.metadata.deletionTimestamp !== undefined;
}

test('a target that no file names is removed', async () => assert.equal(await pruned('nothing'), true));

test('a target that a client takes over while the others are looked at stays', async () =>
  assert.equal(await pruned('a client takes it over'), false));
