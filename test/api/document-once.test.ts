/** What a client may ask for again and again, and what it costs. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { askApi } from '../support/api-client.ts';
import { recordingLog } from '../support/recording-log.ts';

test('the OpenAPI document is made once, however often it is asked for', async (t) => {
  const ports = { clock: systemClock, random: systemRandom, log: recordingLog() };
  const runtime = startRuntime({ dataDir: ':memory:' }, ports);
  t.after(() => runtime.stop());
  const made = mock.method(OpenApiGeneratorV31.prototype, 'generateDocument');
  const answers = await Promise.all([1, 2, 3].map(() => askApi(runtime, 'GET', '/openapi.json')));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal(made.mock.callCount(), 1, 'documents made');
});
