/** How the DNS client asks: what it sends, where from, whom first, how often, and with how many sockets. */
import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock } from '../../shared/lib/clock.ts';
import { type Dns, type DnsOptions, dns } from '../../shared/net/dns.ts';
import { startDnsScript } from '../support/dns-script-server.ts';
import { type DnsReply, startDnsServer } from '../support/dns-server.ts';

type Heard = { readonly message: Buffer; readonly port: number };

const client = (servers: readonly string[], options: Partial<DnsOptions> = {}): Dns =>
  dns({ clock: systemClock, servers, ...options });

/** Hears every question; `answer` may send something back. */
async function listener(t: TestContext, answer: (message: Buffer, heard: readonly Heard[]) => Buffer | undefined) {
  const socket = createSocket('udp4');
  const heard: Heard[] = [];
  socket.on('message', (message: Buffer, peer: RemoteInfo) => {
    heard.push({ message, port: peer.port });
    const reply = answer(message, heard);
    if (reply) socket.send(reply, peer.port, peer.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  t.after(() => new Promise<void>((resolve) => socket.close(resolve)));
  return { heard, address: `127.0.0.1:${socket.address().port}`, port: socket.address().port };
}

/** NXDOMAIN to any question without EDNS0's record. */
function nameError(message: Buffer): Buffer {
  const reply = Buffer.from(message);
  reply.writeUInt16BE(0x8183, 2);
  return reply;
}

const silence = () => undefined;
const idOf = ({ message }: Heard): number => message.readUInt16BE(0);

describe('a question', () => {
  test('has the bytes of Go’s resolver behind its id', async (t) => {
    const { heard, address } = await listener(t, nameError);
    await client([address])('a-b.x_y.test');
    // Recorded from net.Resolver{PreferGo: true} of Go 1.26.8.
    assert.deepEqual(heard.map(({ message }) => message.toString('hex', 2)).toSorted(), [
      '0100000100000000000103612d6203785f790474657374000001000100002904d0000000000000',
      '0100000100000000000103612d6203785f79047465737400001c000100002904d0000000000000',
    ]);
  });

  test('has an id and a source port that cannot be predicted', async (t) => {
    const { heard, address } = await listener(t, nameError);
    const ask = client([address]);
    for (let at = 0; at < 200; at += 1) await ask(`n${at}.test`);
    assert.equal(heard.length, 400);
    const ids = heard.map(idOf);
    assert.ok(new Set(ids).size > 380, 'ids repeat');
    const steps = ids.slice(1).map((id, at) => id - (ids[at] ?? 0));
    assert.ok(new Set(steps).size > 380, 'ids follow from each other');
    assert.ok(new Set(heard.map(({ port }) => port)).size > 150, 'source ports repeat');
  });

  test('takes its id from the chance that it is given', async (t) => {
    const { heard, address } = await listener(t, nameError);
    let next = 40;
    await client([address], { below: () => next++ })('x.test');
    assert.deepEqual(heard.map(idOf).toSorted(), [40, 41]);
  });

  test('is sent again under its id, and an answer to either counts', async (t) => {
    const { heard, address } = await listener(t, (message, all) => (all.length > 2 ? nameError(message) : undefined));
    assert.equal((await client([address])('x.test')).resolution.kind, 'notFound');
    assert.equal(heard.length, 4);
    assert.equal(new Set(heard.map(idOf)).size, 2);
    assert.equal(new Set(heard.map(({ port }) => port)).size, 1);
  });

  test('is not asked about a name that fits in no message', async (t) => {
    const { heard, address } = await listener(t, nameError);
    for (const name of ['', 'a..test', `${'x'.repeat(64)}.test`, `${'abc.'.repeat(63)}test`])
      assert.equal((await client([address])(name)).resolution.kind, 'notFound', name);
    assert.deepEqual(heard, []);
  });
});

describe('of several servers', () => {
  const start = async (t: TestContext, reply: DnsReply) => {
    const server = await startDnsServer(() => reply);
    t.after(() => server.close());
    return server;
  };
  const found: DnsReply = { kind: 'addresses', a: ['10.0.0.1'], ttl: 7 };
  const answer = { resolution: { kind: 'resolved', addresses: ['10.0.0.1'] }, ttlMs: 7000 };
  const questions = ['x.test A', 'x.test AAAA'];

  for (const reply of [
    { kind: 'code', code: 'SERVFAIL' },
    { kind: 'code', code: 'REFUSED' },
    { kind: 'silence' },
  ] as const)
    test(`the next is asked after ${reply.kind === 'code' ? reply.code : 'silence'}`, async (t) => {
      const [first, second] = [await start(t, reply), await start(t, found)];
      assert.deepEqual(await client([first.address, second.address])('x.test'), answer);
      assert.deepEqual(first.questions.toSorted(), questions);
    });

  test('the third is asked in time when two are silent', async (t) => {
    const servers = [await start(t, { kind: 'silence' }), await start(t, { kind: 'silence' }), await start(t, found)];
    assert.deepEqual(await client(servers.map(({ address }) => address))('x.test'), answer);
  });

  test('the next is asked when the first has no listener', async (t) => {
    const { address } = await start(t, found);
    assert.deepEqual(await client(['127.0.0.1:9', address])('x.test'), answer);
  });

  test('the next is not asked after NXDOMAIN', async (t) => {
    const [first, second] = [await start(t, { kind: 'code', code: 'NXDOMAIN' }), await start(t, found)];
    assert.equal((await client([first.address, second.address])('x.test')).resolution.kind, 'notFound');
    assert.deepEqual(second.questions, []);
  });

  test('each is the first in turn where resolv.conf says rotate', async (t) => {
    const servers = [await listener(t, nameError), await listener(t, nameError)];
    const config = {
      servers: servers.map(({ port }) => ({ address: '127.0.0.1', port })),
      attempts: 2,
      tcpOnly: false,
    };
    const ask = client([], { config: () => ({ ...config, rotate: true }) });
    for (const name of ['a.test', 'b.test', 'c.test', 'd.test']) await ask(name);
    const counts = servers.map(({ heard }) => heard.length);
    assert.deepEqual(counts, [4, 4]);
  });
});

describe('a fault of the resolver', () => {
  test('is reported in Go’s words', async () => {
    const message = async (servers: readonly string[]) => (await client(servers)('x.test')).resolution;
    const refused = { kind: 'unavailable', message: 'connection refused', code: 'ECONNREFUSED' };
    assert.deepEqual(await message(['127.0.0.1:9']), refused);
    assert.deepEqual(await message([]), { kind: 'unavailable', message: 'server misbehaving' });
  });

  test('of one family alone does not matter when the other has an address', async (t) => {
    const script = await startDnsScript({
      type: 'AAAA',
      udp: [{ send: [['00008182000100000000000001780474657374' + '00001c0001', 1]] }],
    });
    t.after(() => script.close());
    assert.equal((await client([script.address])('x.test')).resolution.kind, 'unavailable', 'A has no data');
  });
});

describe('both families of a name are waited for', () => {
  for (const [what, aaaaDelayMs, addresses] of [
    ['where one answers later', 100, ['10.0.0.1', '2001:db8::1']],
    ['as long as a lookup may take', 60_000, ['10.0.0.1']],
  ] as const)
    test(what, async (t) => {
      const server = await startDnsServer(() => ({
        kind: 'addresses',
        a: ['10.0.0.1'],
        aaaa: ['2001:db8::1'],
        aaaaDelayMs,
      }));
      t.after(() => server.close());
      assert.deepEqual((await client([server.address])('x.test')).resolution, { kind: 'resolved', addresses });
    });
});

describe('sockets', () => {
  const inUse = () => process.getActiveResourcesInfo().filter((each) => /UDP|TCPSocket/.test(each)).length;

  test('are few, however many names are asked about', async (t) => {
    const { heard, address } = await listener(t, silence);
    const before = inUse();
    const ask = client([address]);
    const lookups = Array.from({ length: 500 }, (_, at) => ask(`n${at}.test`));
    assert.ok(inUse() - before <= 32, `${inUse() - before} at once`);
    for (const { resolution } of await Promise.all(lookups))
      assert.deepEqual(resolution, { kind: 'unavailable', message: 'i/o timeout' });
    assert.ok(new Set(heard.map(({ port }) => port)).size <= 32);
    for (let turns = 0; turns < 100 && inUse() > before; turns += 1) await setImmediate();
    assert.ok(inUse() <= before, 'some are still open');
  });

  test('that are shared keep the answers apart', async (t) => {
    const server = await startDnsServer((name) => ({
      kind: 'addresses',
      a: [`10.0.0.${Number(name.slice(1, -5)) % 250}`],
    }));
    t.after(() => server.close());
    const ask = client([server.address]);
    const lookups = Array.from({ length: 200 }, (_, at) => ask(`n${at}.test`));
    for (const [at, { resolution }] of (await Promise.all(lookups)).entries())
      assert.deepEqual(resolution, { kind: 'resolved', addresses: [`10.0.0.${at}`] });
  });

  test('of TCP are at most 8 at once', async (t) => {
    const truncated = '000083800001000000000000' + '01780474657374' + '0000010001';
    const script = await startDnsScript({ udp: [{ send: [[truncated, 1]] }], tcp: [], tcpHold: true });
    t.after(() => script.close());
    const ask = client([script.address]);
    const lookups = Array.from({ length: 60 }, () => ask('x.test'));
    // Once one has ended another may begin.
    await Promise.race(lookups);
    assert.equal(script.asked.tcp, 8);
    for (const { resolution } of await Promise.all(lookups)) assert.equal(resolution.kind, 'unavailable');
  });
});
