import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantileOf } from '../support/figures.ts';
import { measureHanging } from './hanging.ts';

const healthy = 100;
const lateMsMax = 500;

test('1,500 targets that hang, at 1,024 descriptors, and four dead names make no healthy target late', async (t) => {
  const { latenessesMs, missed, ended } = await measureHanging({
    ...{ healthy, hanging: 1_500, dead: 4, periodSeconds: 4, timeoutSeconds: 3 },
    // Every target has been asked once, with three quarters of the room: 1,500 × 3 s.
    settleMs: 14_000,
    measuredMs: 14_000,
  });
  const p99 = quantileOf(latenessesMs, 0.99);
  const [p50, max] = [quantileOf(latenessesMs, 0.5), latenessesMs.at(-1)];
  t.diagnostic(`lateness of ${latenessesMs.length} healthy probes: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`);
  t.diagnostic(JSON.stringify(ended));
  assert.ok(latenessesMs.length >= healthy * 2, `${latenessesMs.length} measured`);
  assert.equal(missed, 0);
  assert.ok(p99 < lateMsMax, `p99 ${p99} ms`);
  assert.deepEqual([ended.doubt, ended.errors], [undefined, []]);
});
