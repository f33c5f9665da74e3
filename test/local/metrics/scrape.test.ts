/** How `/metrics` is answered: in slices, as fast as the client takes them, and no longer than it stays. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { type FamilyText, sample, textsOf } from '../../../functions/local/metrics/exposition.ts';
import { scrapes } from '../../../functions/local/metrics/scrape.ts';
import { apiServer } from '../../../functions/local/server/api-server.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { wholeText } from '../../support/scraped.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import { until } from '../../support/wait.ts';

/** A family whose series are counted as they are made. */
function countedFamily(seriesMax: number) {
  const made = { series: 0, isEnded: false };
  const series = (function* () {
    try {
      for (; made.series < seriesMax; made.series += 1) yield sample('one', `at="${made.series}"`, 1);
    } finally {
      made.isEnded = true;
    }
  })();
  const family: FamilyText = { family: { name: 'one', type: 'gauge', help: 'One.' }, series };
  return { made, families: async () => [family] };
}

const request = (encoding = '', method = 'GET') =>
  new Request('http://probelet.test/metrics', { method, headers: { 'accept-encoding': encoding } });

const manySeries = 20_000;

/** What was answered: a body that is left open would keep the process until its time-out, a minute. */
const answers: Response[] = [];
after(async () => {
  // One that has failed has ended, and rejects with its error.
  for (const { body } of answers) if (body && !body.locked) await body.cancel().catch(() => undefined);
});

function answered(seriesMax: number, clock = systemClock) {
  const { made, families } = countedFamily(seriesMax);
  const scrape = scrapes({ families, clock });
  const answer = (asked: Request): Response => {
    const response = scrape(asked);
    answers.push(response);
    return response;
  };
  return { made, answer };
}

test('the text is made in slices, each when it is the turn of the clients, from the first one on', async (t) => {
  const over = new AbortController();
  t.after(() => over.abort());
  const { made, families } = countedFamily(manySeries);
  const waiting: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => waiting.push(resolve));
  const scrape = scrapes({ families, clock: systemClock, pause });
  const sizes: number[] = [];
  for (let client = 0; client < 3; client += 1) {
    const reader = new WritableStream({ write: ({ length }) => void sizes.push(length) });
    void scrape(request())
      .body?.pipeTo(reader, over)
      .catch(() => undefined);
  }
  const turns = () => until('a client waits', 5_000, () => waiting.length === 3);
  await turns();
  assert.equal(made.series, 0, 'before the first turn');
  waiting.shift()?.();
  await turns();
  assert.equal(sizes.length, 1);
  assert.ok((sizes[0] ?? 0) < 33 * 1024, `${sizes[0]}`);
  const { series } = made;
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  assert.equal(made.series, series, 'between two turns');
  for (const resolve of waiting) resolve();
});

test('a family comes in one piece, with its head once', async () => {
  const [{ families: first }, { families: second }] = [countedFamily(2), countedFamily(0)];
  const text = wholeText([...(await first()), ...(await second())]);
  const head = '# HELP one One.\n# TYPE one gauge\n';
  assert.equal(text, `${head}one{at="0"} 1\none{at="1"} 1\n\n${head}`);
});

test('no more is made than the client has taken, and nothing after it has gone', async () => {
  const { made, answer } = answered(manySeries);
  const reader = answer(request()).body?.getReader();
  await reader?.read();
  const taken = made.series;
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(taken > 0 && made.series === taken && taken < manySeries, `${taken}, ${made.series}`);
  await reader?.cancel();
  assert.ok(made.isEnded);
});

describe('compression', () => {
  test('is for a client that accepts it, and changes nothing of the text', async () => {
    const plain = answered(manySeries).answer(request());
    const zipped = answered(manySeries).answer(request('br, gzip'));
    const bytes = Buffer.from(await zipped.arrayBuffer());
    assert.equal(zipped.headers.get('content-encoding'), 'gzip');
    assert.equal(gunzipSync(bytes).toString(), await plain.text());
    assert.ok(bytes.length < manySeries * 5, `${bytes.length}`);
  });

  for (const [encoding, isZipped] of [
    ['', false],
    ['identity', false],
    ['gzip;q=0', false],
    ['GZIP; q=0.5', true],
    ['x-gzip', false],
  ] as const)
    test(`of a client that accepts "${encoding}": ${isZipped}`, () => {
      const { headers } = answered(1).answer(request(encoding));
      assert.deepEqual([headers.has('content-encoding'), headers.get('vary')], [isZipped, 'accept-encoding']);
    });

  test('ends with its client, too', async () => {
    const { made, answer } = answered(Number.POSITIVE_INFINITY);
    const reader = answer(request('gzip')).body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await until('nothing more is made', 5_000, () => made.isEnded);
  });
});

test('HEAD has the headers, and no series are made', async () => {
  const { made, answer } = answered(manySeries);
  const { headers, body } = answer(request('', 'HEAD'));
  assert.deepEqual(
    [headers.get('content-type'), body, made.series],
    ['text/plain; version=0.0.4; charset=utf-8', null, 0],
  );
});

describe('readings', () => {
  function counted(clock = virtualClock({ startMs: 0 })) {
    const counts = { reads: 0 };
    const families = async () => {
      counts.reads += 1;
      const series = textsOf(['a', 'b'], (at) => sample('one', `at="${at}"`, counts.reads));
      return [{ family: { name: 'one', type: 'gauge', help: 'One.' }, series } as const];
    };
    const scrape = scrapes({ families, clock });
    return { counts, clock, begin: () => scrape(request()).body?.getReader() };
  }
  type Reader = ReturnType<ReturnType<typeof counted>['begin']>;
  const textOf = async (reader: Reader) => Buffer.from((await reader?.read())?.value ?? '').toString();

  test('are those of a scrape that has begun within a second and is still being answered', async () => {
    const { counts, clock, begin } = counted();
    const first = begin();
    const text = await textOf(first);
    await clock.advance(999);
    const second = begin();
    assert.equal(await textOf(second), text);
    assert.equal(counts.reads, 1);
    await clock.advance(1);
    const third = begin();
    await textOf(third);
    assert.equal(counts.reads, 2);
    for (const reader of [first, second, third]) await reader?.cancel();
  });

  test('are new for a scrape that begins alone, however soon', async () => {
    const { counts, begin } = counted();
    for (let reads = 1; reads <= 3; reads += 1) {
      const reader = begin();
      assert.ok((await textOf(reader)).includes(`} ${reads}\n`));
      assert.equal((await reader?.read())?.done, true);
      assert.equal(counts.reads, reads);
    }
    const gone = begin();
    await textOf(gone);
    await gone?.cancel();
    await textOf(begin());
    assert.equal(counts.reads, 5);
  });
});

describe('simultaneous scrapes', () => {
  const scrapesMax = 8;

  test('are limited, and one more is answered when one has ended', async () => {
    const { answer } = answered(1);
    const open = Array.from({ length: scrapesMax }, () => answer(request()));
    assert.deepEqual(
      open.map(({ status }) => status),
      open.map(() => 200),
    );
    assert.equal(answer(request()).status, 503);
    await open[0]?.text();
    assert.equal(answer(request()).status, 200);
    assert.equal(answer(request()).status, 503);
    await open[1]?.body?.cancel();
    assert.equal(answer(request()).status, 200);
  });

  test('give their place back when they fail', async () => {
    const answer = scrapes({ families: () => Promise.reject(new Error('no views')), clock: systemClock });
    for (let at = 0; at <= scrapesMax; at += 1) await assert.rejects(answer(request()).text(), { message: 'no views' });
  });

  test('leave no timer behind, however they end', async () => {
    const clock = virtualClock({ startMs: 0 });
    const { answer } = answered(1, clock);
    await answer(request()).text();
    await answer(request()).body?.cancel();
    await assert.rejects(scrapes({ families: () => Promise.reject(new Error('no views')), clock })(request()).text());
    assert.equal(clock.pending(), 0);
  });

  test('end after a minute if their clients do not read', async () => {
    const clock = virtualClock({ startMs: 0 });
    const { made, answer } = answered(manySeries, clock);
    const reader = answer(request()).body?.getReader();
    await reader?.read();
    for (let at = 1; at < scrapesMax; at += 1) answer(request());
    assert.equal(answer(request()).status, 503);
    await clock.advance(60_000);
    await assert.rejects(async () => reader?.read(), { message: 'the client has not taken the metrics in time' });
    assert.ok(made.isEnded);
    assert.equal(answer(request()).status, 200);
  });
});

test('a client that disconnects ends its scrape', async (t) => {
  const { made, families } = countedFamily(Number.POSITIVE_INFINITY);
  const server = apiServer(scrapes({ families, clock: systemClock }), {
    hostname: '127.0.0.1',
    connectionsMax: 10,
    log: recordingLog(),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nhost: probelet.test\r\n\r\n');
  await once(socket, 'data');
  socket.destroy();
  await until('nothing more is made', 5_000, () => made.isEnded);
});
