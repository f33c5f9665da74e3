/**
 * What clients may take of the event loop and of the memory, whatever they send and however little they read. Counts
 * what the server begins in a turn of the loop, so a busy machine changes nothing.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { askApi } from '../../support/api-client.ts';
import { crowdedApiServer } from '../../support/crowded-api-server.ts';
import { perTurn, spin } from '../../support/per-turn.ts';
import { until } from '../../support/wait.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

const mib = 1024 * 1024;
const patienceMs = 60_000;

/** A server of `fetch`, with clients that write at once and read nothing unless they are resumed. */
async function served(t: TestContext, fetch: Fetch) {
  const { server, port, open } = await crowdedApiServer(t, fetch);
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    clients: async (count: number, text: string): Promise<readonly Socket[]> => {
      const all = accepted + count;
      const opened = open(count);
      await Promise.all(opened.map((client) => once(client, 'connect')));
      await until('all are accepted', { withinMs: patienceMs, pollMs: 5 }, () => accepted === all);
      for (const client of opened) client.pause().write(text);
      return opened;
    },
  };
}

const get = (path = '/healthz') => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** With work of 1 ms a request, and 5 ms a turn for all connections. */
const perTurnMax = 8;

const pipelines: Readonly<Record<string, string>> = {
  'requests without bodies': get(),
  'requests with bodies': `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n\r\n\r\n`,
  'requests in chunks': `PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
};
for (const [name, request] of Object.entries(pipelines))
  test(`pipelined ${name}, of all connections together, get a slice of each turn`, async (t) => {
    const turn = perTurn();
    const { clients } = await served(t, () => {
      turn.count();
      spin(1);
      return new Response('ok');
    });
    for (const client of await clients(20, request.repeat(100))) client.resume();
    await until(
      () => `${turn.seen.all} of 2,000 answers`,
      patienceMs,
      () => turn.seen.all === 2_000,
    );
    assert.ok(turn.seen.most <= perTurnMax, `${turn.seen.most} requests in one turn of the loop`);
  });

test('what a request does after its first promise counts, too', async (t) => {
  const turn = perTurn();
  const { clients } = await served(t, async () => {
    for (let hop = 0; hop < 10; hop += 1) await Promise.resolve();
    turn.count();
    spin(1);
    return new Response('ok');
  });
  for (const client of await clients(100, get().repeat(5))) client.resume();
  await until(
    () => `${turn.seen.all} of 500 answers`,
    patienceMs,
    () => turn.seen.all === 500,
  );
  assert.ok(turn.seen.most <= perTurnMax, `${turn.seen.most} requests in one turn of the loop`);
});

test('a connection has one request under way', async (t) => {
  const underWay = new Map<string, number>();
  let most = 0;
  let all = 0;
  const { clients } = await served(t, async (request) => {
    const client = new URL(request.url).pathname;
    underWay.set(client, (underWay.get(client) ?? 0) + 1);
    most = Math.max(most, underWay.get(client) ?? 0);
    await new Promise((resolve) => setImmediate(resolve));
    underWay.set(client, (underWay.get(client) ?? 0) - 1);
    all += 1;
    return new Response('ok');
  });
  const opened = await clients(1, get('/one').repeat(200));
  for (const client of opened) client.resume();
  await until(
    () => `${all} of 200 answers`,
    patienceMs,
    () => all === 200,
  );
  assert.equal(most, 1, 'requests of one connection under way');
});

test('answers that are not read stop the reading of a connection', async (t) => {
  let made = 0;
  const { clients, url } = await served(t, () => {
    made += 1;
    return new Response('x'.repeat(mib));
  });
  await clients(1, get('/large').repeat(200));
  let before = -1;
  // The kernel holds some, and nothing more is made once it is full.
  await until('that it rests', { withinMs: patienceMs, pollMs: 500 }, () => {
    const rests = made > 0 && made === before;
    before = made;
    return rests;
  });
  assert.ok(made <= 24, `${made} answers of 1 MiB were made for a client that reads none`);
  assert.equal((await fetch(url)).status, 200);
});

test('answers that nobody reads are bounded over all connections, and the oldest gives way', async (t) => {
  let made = 0;
  const answerMib = 12;
  const { clients, url } = await served(t, () => {
    made += 1;
    return new Response('x'.repeat(answerMib * mib));
  });
  await clients(12, get('/large'));
  await until('an answer', patienceMs, () => made > 0);
  const atOnce = made;
  assert.equal((await askApi(url, 'GET', '/healthz')).status, 200, '/healthz waits for nobody');
  const mostMib = atOnce * answerMib;
  assert.ok(mostMib <= 120, `${mostMib} MiB of answers were made for clients that read nothing`);
  const response = await fetch(`${url}/large`, { signal: AbortSignal.timeout(patienceMs) });
  assert.equal((await response.text()).length, answerMib * mib);
});

test('what clients that have gone had asked for is not begun, and ends where it is under way', async (t) => {
  let [begun, ended, closed] = [0, 0, 0];
  const { clients } = await served(t, async ({ signal }) => {
    begun += 1;
    while (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
    ended += 1;
    return new Response('ok');
  });
  const opened = await clients(40, get('/list').repeat(20));
  await until('some are under way', patienceMs, () => begun > 0);
  for (const client of opened) client.once('close', () => (closed += 1)).destroy();
  await until('all have gone', patienceMs, () => closed === opened.length);
  await until(
    () => `${ended} of ${begun} have ended`,
    patienceMs,
    () => ended === begun,
  );
  assert.ok(begun <= 16, `${begun} of 800 requests were begun`);
});
