/** What idle and greedy clients of the API may take from the prober of the same process, which has few descriptors. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';

const main = new URL('../../functions/local/main.ts', import.meta.url).pathname;
const descriptors = 256;
const clientsMax = 400;
const probesAwaited = 2;
/** For what comes within seconds or not at all. */
const patienceMs = 12_000;

describe('a process with few descriptors', { concurrency: false }, () => {
  const clients: Socket[] = [];
  let probes = 0;
  const target = createServer((_, response) => {
    probes += 1;
    response.end();
    target.emit('probed');
  });
  let child: ChildProcess | undefined;
  let base = '';
  let watch: ReadableStreamDefaultReader<string> | undefined;

  before(async () => {
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    const command = `ulimit -n ${descriptors}; exec "$0" "$@"`;
    const args = [process.execPath, main, '--port', '0', '--data-dir', ':memory:'];
    child = spawn('sh', ['-c', command, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
    base = await new Promise((resolve) => {
      child?.stderr?.setEncoding('utf8').on('data', (text: string) => {
        const url = /listens on (http:\S+?),/.exec(text)?.[1];
        if (url) resolve(url);
      });
    });
    const { port } = target.address() as AddressInfo;
    const body = JSON.stringify({
      spec: { host: '127.0.0.1', readinessProbe: { httpGet: { path: '/', port }, periodSeconds: 1 } },
    });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${base}/v1/namespaces/default/targets/healthy`, { method: 'PUT', headers, body });
    await once(target, 'probed');
  });
  after(async () => {
    for (const client of clients) client.destroy();
    target.close();
    const ended = child && once(child, 'exit');
    child?.kill('SIGTERM');
    await ended;
  });

  /** Whether so many more probes arrive. */
  async function probed(count: number): Promise<boolean> {
    const until = probes + count;
    const signal = AbortSignal.timeout(patienceMs);
    while (probes < until && !signal.aborted) await once(target, 'probed', { signal }).catch(() => {});
    return probes >= until;
  }

  async function connectClients(said = ''): Promise<void> {
    const { hostname, port } = new URL(base);
    for (let count = 0; count < clientsMax; count += 1) {
      const client = connect(Number(port), hostname).on('error', () => {});
      clients.push(client);
      await once(client, 'connect');
      client.write(said);
    }
  }

  test('goes on probing beside clients that connect and say nothing', async () => {
    watch = (await fetch(`${base}/v1/watch`)).body?.pipeThrough(new TextDecoderStream()).getReader();
    await connectClients();
    assert.ok(await probed(probesAwaited), `no ${probesAwaited} probes beside ${clientsMax} idle clients`);
    const metrics = await (await fetch(`${base}/metrics`)).text();
    const [, unknown] = /^prober_probe_total\{.*result="unknown".*\} (\d+)$/m.exec(metrics) ?? [];
    assert.equal(Number(unknown ?? 0), 0, 'probes that came to nothing');
  });

  test('goes on telling a client that watched before', async () => {
    await fetch(`${base}/v1/namespaces/default/targets/healthy/probe`, { method: 'POST' });
    let told = '';
    while (watch && !told.includes('ProbeRequested')) {
      const { value, done } = await watch.read();
      assert.ok(!done, `the watch ended after ${told}`);
      told += value;
    }
    assert.ok(told.includes('ProbeRequested'));
  });

  test('serves a new client while they stay', async () => {
    const response = await fetch(`${base}/healthz`);
    assert.deepEqual([response.status, ((await response.json()) as { status: string }).status], [200, 'ok']);
  });

  test('goes on probing beside clients whose requests never end', async () => {
    const { host } = new URL(base);
    await connectClients(
      `PUT /v1/namespaces/default/desired HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\n{`,
    );
    assert.ok(await probed(probesAwaited), `no ${probesAwaited} probes beside ${clientsMax} busy clients`);
  });
});
