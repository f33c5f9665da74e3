/**
 * Requests that wait when their clients go: none of them stays in memory, whatever it waits for. Clients that come and
 * go are not bounded by the number of connections, so what each of them left behind would add up without end.
 */
import { once } from 'node:events';
import { IncomingMessage } from 'node:http';
import { type TestContext, test } from 'node:test';
import { queryObjects } from 'node:v8';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { clientTurns } from '../../../functions/local/server/client-turns.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import type { Store } from '../../../shared/store/store.ts';
import { yamlTexts } from '../../fuzz-clients/bodies.ts';
import { crowdedApiServer } from '../../support/crowded-api-server.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { pause, until } from '../../support/wait.ts';

const clientCount = 40;
const patience = { withinMs: 60_000, pollMs: 20 };
/** Each look at what is held collects all garbage: closer together they would leave the process no time. */
const heldPatience = { ...patience, pollMs: 250 };
/** In which a request has come to where it waits. */
const turnsMs = 100;
/** Of requests whose clients have gone: those that are being answered in this moment, each counted twice. */
const answeringMax = 24;

/** What concerns the namespace `held` is not answered until it is let go. */
function heldStore() {
  let letGo = () => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const passes = (asked: unknown) => (JSON.stringify(asked).includes('held') ? released : Promise.resolve());
  const wrap = (store: Store): Store => ({
    get: (...asked) => passes(asked).then(() => store.get(...asked)),
    query: (...asked) => passes(asked).then(() => store.query(...asked)),
    write: (...asked) => passes(asked).then(() => store.write(...asked)),
  });
  return { wrap, letGo: () => letGo() };
}

const spec = '{"host":"127.0.0.1","readinessProbe":{"tcpSocket":{"port":1}}}';
const manifest = `{"metadata":{},"spec":${spec}}`;
const line = `{"metadata":{"name":"a","namespace":"much"},"spec":${spec}}`;
/** By media type. That in YAML takes long to parse. */
const bodies: Readonly<Record<string, string>> = {
  'application/json': manifest,
  'application/merge-patch+json': manifest,
  'application/yaml': yamlTexts(32 * 1024)['quoted keys'] ?? '',
  'application/x-ndjson': line,
};

type Operation = { readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> } };
type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const request = (method: string, path: string, type?: string): string => {
  const body = type === undefined ? '' : (bodies[type] ?? '');
  const fields = type === undefined ? '' : `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`;
};

/** One of each operation of the API with each syntax. */
function requestsOf({ paths }: Document): readonly string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const types = Object.keys(requestBody?.content ?? {}).filter((type) => Object.hasOwn(bodies, type));
      const own = path.replaceAll(/\{\w+\}/g, 'a');
      return (types.length > 0 ? types : [undefined]).map((type) => request(method.toUpperCase(), own, type));
    }),
  );
}

/** More of each kind than there is room for at once. */
const occupantCount = 10;

/** They wait for the store, so nothing else is let in. */
const occupants: readonly string[] = [
  request('GET', '/v1/namespaces/held/targets/a'),
  request('PUT', '/v1/namespaces/held/targets/a', 'application/json'),
  request('PUT', '/v1/targets:apply', 'application/x-ndjson').replace('much', 'held'),
];

async function served(t: TestContext) {
  const turns = clientTurns();
  const store = heldStore();
  const ports = { clock: systemClock, random: systemRandom, log: recordingLog(), wrapStore: store.wrap };
  const runtime = startRuntime({ dataDir: ':memory:' }, { ...ports, turns: turns.known });
  await runtime.shard.loaded;
  const crowded = await crowdedApiServer(t, runtime.fetch);
  t.after(async () => {
    store.letGo();
    await runtime.stop();
  });
  const document = await (await runtime.fetch(new Request('http://a.test/openapi.json'))).json();
  return { ...crowded, document: document as Document };
}

/** As the API sees a request, and as its server does. */
const held = (): number =>
  queryObjects(Request, { format: 'count' }) + queryObjects(IncomingMessage, { format: 'count' });

test('no request whose client has gone waits for room', async (t) => {
  const { server, open, document } = await served(t);
  let begun = 0;
  server.on('request', () => {
    begun += 1;
  });
  const send = async (texts: readonly string[]) => {
    const all = begun + texts.length;
    const clients = open(texts.length);
    for (const [at, client] of clients.entries()) client.write(texts[at] ?? '');
    await until(
      () => `${begun} of ${all} requests`,
      patience,
      () => begun === all,
    );
    return clients;
  };
  await send(occupants.flatMap((text) => Array.from({ length: occupantCount }, () => text)));
  for (const text of requestsOf(document))
    await t.test(text.slice(0, text.indexOf('\r\n\r\n')).replaceAll('\r\n', ' '), async () => {
      const most = held() + answeringMax;
      const clients = await send(Array.from({ length: clientCount }, () => text));
      await pause(turnsMs);
      const gone = clients.map((client) => once(client, 'close'));
      for (const client of clients) client.destroy();
      await Promise.all(gone);
      await until(
        () => `${held()} requests are held, ${most} at the most`,
        heldPatience,
        () => held() <= most,
      );
    });
});
