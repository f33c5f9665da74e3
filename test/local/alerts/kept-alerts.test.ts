/**
 * Incidents that an earlier process has kept, when the configuration has lost its alerts, has them again, or has
 * another name for a receiver. The clock of alerts runs 20 times faster than that of probes.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { register } from '../../support/api-client.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { alertingRuntime, listening } from './alerting-runtime.ts';

/** Notes what arrives for the first time, as `/path kind`, and its id. */
async function receiver(t: TestContext) {
  const arrived: { readonly text: string; readonly id: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { type } = JSON.parse(Buffer.concat(chunks).toString());
    const one = { text: `${request.url} ${type.split('.').at(-1)}`, id: String(request.headers['webhook-id']) };
    // At least once, with the same id: a process that stops has perhaps not read the answer.
    if (!arrived.some(({ text, id }) => text === one.text && id === one.id)) arrived.push(one);
    response.end();
  });
  const port = await listening(t, server);
  const texts = () => arrived.map(({ text }) => text);
  return {
    ids: () => arrived.map(({ id }) => id),
    /** These have arrived, in this order, and nothing else. */
    shows: (what: string, ...wanted: readonly string[]) =>
      until(
        () => `${what}: there are ${texts()}`,
        { withinMs: 15_000, pollMs: 20 },
        async () => texts().join() === wanted.join(),
      ),
    /** Lines of a configuration. */
    entry: (name: string) =>
      `receivers:\n  - { name: ${name}, webhook: { url: "http://127.0.0.1:${port}/${name}" } }\n`,
  };
}

const alertTo = (name: string) => `alerts:\n  - { name: down, notify: [${name}] }\n`;

test('kept incidents end without their alert, begin again with it, and follow a receiver of another name', async (t) => {
  let isUp = false;
  const targetPort = await listening(
    t,
    createServer((_, response) => response.writeHead(isUp ? 200 : 503).end()),
  );
  const { entry, shows, ids } = await receiver(t);
  const [dataDir, folder] = [temporaryFolder(t), temporaryFolder(t)];
  const path = join(folder, 'probelet.yaml');
  const start = (text: string) => {
    writeFileSync(path, text);
    return alertingRuntime(t, dataDir, path);
  };

  const first = await start(alertTo('ops') + entry('ops'));
  const probe = { httpGet: { path: '/', port: targetPort }, periodSeconds: 1, failureThreshold: 1 };
  await register(first.runtime, 'web', { host: '127.0.0.1', readinessProbe: probe });
  await shows('the beginning', '/ops firing');
  await first.stop();

  const without = await start(entry('ops'));
  await shows('the alert is gone', '/ops firing', '/ops resolved');
  await without.stop();

  const again = await start(alertTo('ops') + entry('ops'));
  await shows('the alert is back', '/ops firing', '/ops resolved', '/ops firing');
  assert.equal(new Set(ids()).size, 3, 'each has an id of its own');
  await again.stop();

  const before = ['/ops firing', '/ops resolved', '/ops firing'];
  const renamed = await start(alertTo('on-call') + entry('on-call'));
  await shows('the receiver has another name', ...before, '/on-call firing');
  isUp = true;
  await shows('the end', ...before, '/on-call firing', '/on-call resolved');
  await renamed.stop();
});
