/**
 * Requests that go on after the store has answered, and clients without a valid token: how much of them falls into one
 * turn of the event loop, whatever their number.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { clientTurns } from '../../functions/local/server/client-turns.ts';
import { slicedStore } from '../../functions/local/server/sliced-store.ts';
import { tokenCheck } from '../../shared/api/http/bearer-token.ts';
import type { Store } from '../../shared/store/store.ts';
import { apiWorld } from '../api/world.ts';
import { targetPath } from '../support/api-client.ts';
import { crowdedApiServer } from '../support/crowded-api-server.ts';
import { perTurn, spin } from '../support/per-turn.ts';
import { until } from '../support/wait.ts';

const patienceMs = 60_000;
const token = 'a-token-of-32-characters-0123456';
/** With work of 1 ms a request, and 5 ms a turn. */
const perTurnMax = 8;

/** A store whose reads all answer in one turn, once `release` is called; later ones answer at once. */
function heldStore(store: Store) {
  const held: (() => void)[] = [];
  let isHeld = true;
  const later = turnCounter();
  const wait = (): Promise<void> => new Promise((resolve) => (isHeld ? held.push(resolve) : resolve()));
  return {
    later,
    held,
    release: () => {
      isHeld = false;
      for (const resolve of held) resolve();
    },
    store: {
      ...store,
      get: async (...asked: Parameters<Store['get']>) => {
        later.next(!isHeld);
        await wait();
        return store.get(...asked);
      },
      query: async (...asked: Parameters<Store['query']>) => {
        later.next(!isHeld);
        await wait();
        return store.query(...asked);
      },
    } satisfies Store,
  };
}

/** Counts the reads that follow on others. */
function turnCounter() {
  const turn = perTurn();
  return {
    seen: turn.seen,
    next: (isLater: boolean) => {
      if (!isLater) return;
      turn.count();
      spin(1);
    },
  };
}

test('what requests do once the store has answered has its part of each turn', async () => {
  const holding: { of?: ReturnType<typeof heldStore> } = {};
  const { known } = clientTurns();
  const world = apiWorld({
    pause: known.pause,
    wrapStore: (store) => {
      holding.of = heldStore(store);
      return slicedStore(holding.of.store, known);
    },
  });
  const { of: held } = holding;
  assert.ok(held);
  const count = 100;
  const spec = { host: '127.0.0.1', readinessProbe: { tcpSocket: { port: 1 } } };
  const asked = Array.from({ length: count }, (_, at) => world.ask('PUT', targetPath(`t${at}`), { spec }));
  await until(
    () => `${held.held.length} reads`,
    patienceMs,
    () => held.held.length >= count,
  );
  held.release();
  const answers = await Promise.all(asked);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([201]));
  assert.ok(held.later.seen.all >= count, `${held.later.seen.all} reads that follow on others`);
  assert.ok(held.later.seen.most <= perTurnMax, `${held.later.seen.most} requests went on in one turn of the loop`);
});

async function served(t: TestContext, fetch: (request: Request) => Response) {
  const { open } = await crowdedApiServer(t, fetch, tokenCheck(token));
  return (count: number, text: string): void => {
    for (const client of open(count)) client.resume().write(text);
  };
}

test('clients without a valid token have a part of their own, which is the smaller one', async (t) => {
  const [strangers, known] = [perTurn(), perTurn()];
  const clients = await served(t, (request) => {
    const isKnown = request.headers.get('authorization') === `Bearer ${token}`;
    (isKnown ? known : strangers).count();
    spin(1);
    return new Response('', { status: isKnown ? 200 : 401 });
  });
  const get = (fields: string) => `GET /v1/targets HTTP/1.1\r\nHost: a\r\n${fields}\r\n`;
  clients(50, get('').repeat(100));
  clients(50, get('Authorization: Bearer wrong-but-long-enough\r\n').repeat(100));
  await until('strangers', patienceMs, () => strangers.seen.all > 50);
  const before = strangers.seen.all;
  clients(5, get(`Authorization: Bearer ${token}\r\n`).repeat(100));
  await until('the known', patienceMs, () => known.seen.all === 500);
  const meanwhile = strangers.seen.all - before;
  assert.ok(strangers.seen.most <= 4, `${strangers.seen.most} requests of strangers in one turn`);
  assert.ok(meanwhile <= 1_500, `${meanwhile} requests of 100 strangers beside 500 of 5 known clients`);
});

test('the first request of a connection waits for nothing that others pipeline', async (t) => {
  let [pipelined, before, atFirst] = [0, 0, 0];
  const clients = await served(t, (request) => {
    const isFirst = request.url.endsWith('/healthz');
    if (isFirst) atFirst = pipelined;
    else pipelined += 1;
    spin(1);
    return new Response('', { status: isFirst ? 200 : 401 });
  });
  const connections = 100;
  clients(connections, 'GET /v1/targets HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100));
  await until('the pipelines', patienceMs, () => pipelined > 2 * connections);
  before = pipelined;
  clients(1, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await until('the first request', patienceMs, () => atFirst > 0);
  assert.ok(atFirst - before <= connections / 4, `${atFirst - before} others were served before it`);
});

test('what a supervisor asks waits for no other first request', async (t) => {
  let [others, before, atFirst] = [0, 0, 0];
  const clients = await served(t, (request) => {
    if (request.url.endsWith('/healthz')) atFirst = others;
    else others += 1;
    spin(1);
    return new Response('');
  });
  const connections = 200;
  clients(connections, 'GET /v1/targets HTTP/1.1\r\nHost: a\r\n\r\n');
  await until('the first of them', patienceMs, () => others > 0);
  before = others;
  clients(1, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  await until('the supervisor', patienceMs, () => atFirst > 0);
  assert.ok(atFirst - before <= connections / 4, `${atFirst - before} others were served before it`);
});

test('HEAD waits for room as GET does', async (t) => {
  let [underWay, most, all] = [0, 0, 0];
  const clients = await served(t, (async () => {
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise((resolve) => setTimeout(resolve, 5));
    underWay -= 1;
    all += 1;
    return new Response('ok');
  }) as unknown as (request: Request) => Response);
  clients(60, `HEAD /v1/targets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  await until('all', patienceMs, () => all === 60);
  assert.ok(most <= 8, `${most} answers to HEAD were made at once`);
});

test('few requests with large bodies are under way at once', async (t) => {
  for (const [name, fields] of Object.entries({
    'of a length': 'Content-Length: 100000\r\n',
    'in chunks': 'Transfer-Encoding: chunked\r\n',
    'of lines': 'Content-Length: 10\r\nContent-Type: application/x-ndjson; charset=utf-8\r\n',
  })) {
    let [underWay, most, all] = [0, 0, 0];
    const clients = await served(t, (async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise((resolve) => setTimeout(resolve, 20));
      underWay -= 1;
      all += 1;
      return new Response('ok');
    }) as unknown as (request: Request) => Response);
    clients(40, `PUT /a HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${fields}\r\n`);
    await until(name, patienceMs, () => all >= 4);
    assert.ok(most <= 4, `${most} requests with bodies ${name} were under way at once`);
  }
});

test('of a body that waits little is kept, in however small chunks it comes', async (t) => {
  const { server, open } = await crowdedApiServer(t, () => new Promise<Response>(() => {}));
  let kept = 0;
  server.on('request', (request) => {
    setInterval(() => {
      kept = Math.max(kept, request.readableLength);
    }, 5).unref();
  });
  const [client] = open(1);
  assert.ok(client);
  client.write('PUT /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
  let rests = 0;
  const chunks = '1\r\n \r\n'.repeat(10_000);
  const write = () => {
    rests = 0;
    while (client.write(chunks));
  };
  client.on('drain', write);
  write();
  await until('that the kernel takes no more', { withinMs: patienceMs, pollMs: 50 }, () => {
    rests += 1;
    return rests > 20;
  });
  assert.ok(kept > 0 && kept <= 2_048, `${kept} chunks of one byte are kept for a request that does not read`);
});
