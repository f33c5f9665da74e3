/** The file of alerts when receivers have not answered for long: it is large, and written beside everything else. */
import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { alertFile, sliceCharacters } from '../../../functions/local/alerts/alert-file.ts';
import { batchIncidentsMax } from '../../../shared/alerts/batches.ts';
import { queueMax } from '../../../shared/alerts/delivery.ts';
import { type KeptAlerts, keptText } from '../../../shared/alerts/kept-alerts.ts';
import { sampleNotification, startMs } from '../../alerts/alert-world.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [incident] = sampleNotification().incidents;
assert.ok(incident);
const incidents = Array.from({ length: batchIncidentsMax }, (_, index) => ({ ...incident, name: `t${index}` }));
const queue = Array.from({ length: queueMax }, (_, index) => {
  return { notification: sampleNotification({ id: `n${index}`, incidents }), queuedMs: startMs, attempts: 9 };
});
const kept: KeptAlerts = {
  version: 1,
  state: { incidents: { a: incident }, batches: {} },
  outbox: { one: queue, two: queue, three: queue },
};

test('a large file of alerts is written in slices, between which everything else has its turns', async (t) => {
  const path = join(temporaryFolder(t), 'alerts.json');
  const file = alertFile(path, recordingLog());
  let longestMs = 0;
  let isSaving = true;
  let lastMs = cpuMs();
  const turn = () => {
    if (!isSaving) return;
    const nowMs = cpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    setImmediate(turn);
  };
  setImmediate(turn);
  await file.save(kept);
  isSaving = false;
  const { size } = statSync(path);
  const wholeMs = timeOf(() => JSON.stringify(kept));
  const text = `${(size / 1e6).toFixed(0)} MB, ${wholeMs.toFixed(0)} ms, the longest turn ${longestMs.toFixed(1)} ms`;
  t.diagnostic(text);
  assert.ok(size > 40_000_000, text);
  assert.ok(longestMs < wholeMs / 3, text);
  const longest = Math.max(...[...keptText(kept)].map(({ length }) => length));
  assert.ok(longest < sliceCharacters, `an entry has ${longest} characters`);
  assert.deepEqual(await file.load(), kept);
});

/** Of this thread, so that a busy machine makes no turn longer. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function timeOf(run: () => unknown): number {
  const beganMs = cpuMs();
  run();
  return cpuMs() - beganMs;
}

test('what is written in pieces is what JSON says', () => {
  const values = fc.dictionary(fc.string(), fc.jsonValue());
  const any = fc.record({
    version: fc.constant(1),
    state: fc.record(
      { incidents: values, batches: values, overflow: fc.jsonValue() },
      { requiredKeys: ['incidents', 'batches'] },
    ),
    outbox: fc.dictionary(fc.string(), fc.array(fc.jsonValue())),
  });
  fc.assert(
    fc.property(any, (given) => {
      const text = [...keptText(given as unknown as KeptAlerts)].join('');
      const { overflow, ...state } = given.state;
      const wanted = { ...given, state: overflow ? given.state : state };
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(wanted)));
    }),
  );
});
