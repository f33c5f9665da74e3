/** Files of targets whose reading fails for a while: the machine is busy, or its disk is. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configTargets } from '../../functions/local/config-targets.ts';
import { targetConverter } from '../../functions/local/converter.ts';
import { apiApp } from '../../shared/api/app.ts';
import type { ApiDeps } from '../../shared/api/deps.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import { askApi } from '../support/api-client.ts';
import { recordingLog } from '../support/recording-log.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { virtualClock } from '../support/virtual-clock.ts';

const target = (name: string, port = 1) =>
  `---\nmetadata: { name: ${name} }\nspec: { host: 10.0.0.1, readinessProbe: { tcpSocket: { port: ${port} } } }\n`;
/** Longer than any rest between two tries. */
const lookMs = 11_000;
const looks = 12;
/** No file is read in time by it. */
const impatientClock: typeof systemClock = {
  ...systemClock,
  setTimer: (_, callback) => systemClock.setTimer(0, callback),
};

/** The targets after some looks at a file, of which the first ones fail. */
async function shownAfter(texts: readonly string[], failures: number): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const clock = virtualClock();
  const ports = { clock, random: seededRandom(1), log: recordingLog() };
  const store = sqliteStore({ path: ':memory:' });
  const deps: ApiDeps = { ...ports, store, bus: inProcessBus(ports), health: () => ({ ok: true, quarantined: [] }) };
  let failed = 0;
  let isFailing = false;
  const openConverter: typeof targetConverter = () => {
    const isLate = isFailing && failed < failures;
    if (isLate) failed += 1;
    return targetConverter(isLate ? impatientClock : systemClock);
  };
  const { signal } = new AbortController();
  const files = configTargets(deps, { clock, signal, openConverter });
  for (const [index, text] of texts.entries()) {
    writeFileSync(join(folder, 'a.yaml'), text);
    isFailing = index === texts.length - 1;
    for (let look = 0; look < looks; look += 1) {
      await files.apply({ folder, targets: [{ files: ['a.yaml'] }] }, false);
      await clock.advance(lookMs);
    }
  }
  assert.equal(failed, failures);
  const { body } = await askApi(apiApp(deps), 'GET', '/v1/targets');
  return body.items.flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp ? [] : [name])).sort();
}

for (const failures of [0, 1, 2]) {
  test(`a new file that fails ${failures} times is applied without a change of it`, async () =>
    assert.deepEqual(await shownAfter([target('one')], failures), ['one']));

  test(`a changed file that fails ${failures} times is applied without another change`, async () => {
    const texts = [target('one') + target('two'), target('one') + target('three')];
    assert.deepEqual(await shownAfter(texts, failures), ['one', 'three']);
  });
}
