/** Bodies in chunks of any size, as a route reads them: every byte, in few pieces, and no more than it asks for. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { crowdedApiServer } from '../../support/crowded-api-server.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { until } from '../../support/wait.ts';

const patienceMs = 30_000;
const random = seededRandom(1);

const head = 'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (bytes: string): string => `${bytes.length.toString(16)}\r\n${bytes}\r\n`;
const letters = (length: number): string =>
  Array.from({ length }, (_, at) => String.fromCharCode(97 + (at % 26))).join('');

/** The sizes of the chunks of a body. */
const bodies: Readonly<Record<string, readonly number[]>> = {
  'of one byte': Array.from({ length: 20_000 }, () => 1),
  'around the size of a piece': Array.from({ length: 300 }, (_, at) => 500 + (at % 25)),
  'of any size': Array.from({ length: 500 }, () => 1 + Math.floor(random.next() ** 4 * 3_000)),
  'of one byte before a large one': [1, 1, 1, 5_000, 1, 1],
};

async function servedBody(t: TestContext, read: (body: ReadableStream<Uint8Array>) => Promise<Response>) {
  const { open } = await crowdedApiServer(t, async ({ body }) => (body ? read(body) : new Response('none')));
  const [client] = open(1);
  if (!client) throw new Error('no client');
  let answer = '';
  client.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  return { client, answer: () => answer };
}

for (const [name, sizes] of Object.entries(bodies))
  test(`a body in chunks ${name} is read whole, in few pieces`, async (t) => {
    let pieces = 0;
    const { client, answer } = await servedBody(t, async (body) => {
      const all: Uint8Array[] = [];
      for await (const piece of body) all.push(piece);
      pieces = all.length;
      return new Response(Buffer.concat(all));
    });
    const sent = letters(sizes.reduce((sum, size) => sum + size, 0));
    let from = 0;
    const chunks = sizes.map((size) => {
      from += size;
      return chunk(sent.slice(from - size, from));
    });
    client.write(`${head}${chunks.join('')}${chunk('')}`);
    await until('it is answered', { withinMs: patienceMs, pollMs: 5 }, () => answer().includes(sent));
    // The parser is given pieces of 4 KiB, whose chunks become one, or one for each 512 bytes.
    const most = chunks.join('').length / 512 + sizes.filter((size) => size >= 512).length + 2;
    assert.ok(pieces <= most, `${pieces} pieces of ${sizes.length} chunks`);
  });

/** More than the kernel keeps for both ends of a connection. */
const partCount = 60;

test('a body in small chunks that its route does not read stays with its client', async (t) => {
  const { promise: read, resolve: goOn } = Promise.withResolvers<void>();
  const { client, answer } = await servedBody(t, async (body) => {
    await read;
    let bytes = 0;
    for await (const piece of body) bytes += piece.length;
    return new Response(`${bytes} bytes`);
  });
  const chunksOfPart = 20_000;
  const part = chunk(letters(16)).repeat(chunksOfPart);
  client.write(head);
  for (let at = 0; at < partCount; at += 1) client.write(part);
  const waits = () => client.writableLength;
  await until('the kernel takes no more', { withinMs: patienceMs, pollMs: 0 }, async () => {
    const before = waits();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return waits() === before;
  });
  assert.ok(waits() > 0, 'some of it waits');
  goOn();
  client.write(chunk(''));
  await until('it is answered', { withinMs: patienceMs, pollMs: 5 }, () => answer().includes(' bytes'));
  assert.match(answer(), new RegExp(`\\b${partCount * chunksOfPart * 16} bytes`));
});
