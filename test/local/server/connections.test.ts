/** What idle and greedy clients of the API may take from the prober of the same process, which has few descriptors. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { askApi, register, targetPath } from '../../support/api-client.ts';
import { type Product, startProduct } from '../product.ts';

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
  let product: Product | undefined;
  let base = '';
  let watch: ReadableStreamDefaultReader<string> | undefined;

  before(async () => {
    target.listen(0, '127.0.0.1');
    await once(target, 'listening');
    const command = ['sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$@"`, process.execPath];
    product = await startProduct(['--port', '0', '--data-dir', ':memory:'], { command });
    base = product.url;
    const { port } = target.address() as AddressInfo;
    const readinessProbe = { httpGet: { path: '/', port }, periodSeconds: 1 };
    await register(base, 'healthy', { host: '127.0.0.1', readinessProbe });
    await once(target, 'probed');
  });
  after(async () => {
    for (const client of clients) client.destroy();
    target.close();
    await product?.stop();
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

  test('continues to probe beside clients that connect and say nothing', async () => {
    watch = (await fetch(`${base}/v1/watch`)).body?.pipeThrough(new TextDecoderStream()).getReader();
    await connectClients();
    assert.ok(await probed(probesAwaited), `no ${probesAwaited} probes beside ${clientsMax} idle clients`);
    const { text: metrics } = await askApi(base, 'GET', '/metrics');
    const [, unknown] = /^prober_probe_total\{.*result="unknown".*\} (\d+)$/m.exec(metrics) ?? [];
    assert.equal(Number(unknown ?? 0), 0, 'probes that came to nothing');
  });

  test('continues to serve a client that watched before', async () => {
    await askApi(base, 'POST', `${targetPath('healthy')}/probe`);
    let told = '';
    while (watch && !told.includes('ProbeRequested')) {
      const { value, done } = await watch.read();
      assert.ok(!done, `the watch ended after ${told}`);
      told += value;
    }
    assert.ok(told.includes('ProbeRequested'));
  });

  test('serves a new client while they stay', async () => {
    const { status, body } = await askApi<{ readonly status: string }>(base, 'GET', '/healthz');
    assert.deepEqual([status, body.status], [200, 'ok']);
  });

  test('continues to probe beside clients whose requests never end', async () => {
    const { host } = new URL(base);
    await connectClients(
      `PUT /v1/namespaces/default/desired HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100\r\n\r\n{`,
    );
    assert.ok(await probed(probesAwaited), `no ${probesAwaited} probes beside ${clientsMax} busy clients`);
  });
});
