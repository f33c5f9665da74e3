import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { type DnsReply, startDnsServer } from '../support/dns-server.ts';

const farMs = 60_000;
const addresses = (a: readonly string[], aaaa: readonly string[] = [], ttl = 0): DnsReply => ({
  kind: 'addresses',
  a,
  aaaa,
  ttl,
});

async function start(t: TestContext, reply: (name: string) => DnsReply | undefined, clock: Clock = systemClock) {
  const server = await startDnsServer(reply);
  t.after(() => server.close());
  const resolve = resolver({ clock, servers: [server.address], hostsPath: '/nowhere/hosts' });
  return { server, resolve: (name: string) => resolve(name, clock.monotonicMs() + farMs) };
}

describe('the resolver', () => {
  test('never asks for an address literal', async (t) => {
    const { server, resolve } = await start(t, () => addresses(['10.0.0.1']));
    for (const literal of ['127.0.0.1', '::1', 'fe80::1%eth0', '::ffff:127.0.0.1'])
      assert.deepEqual(await resolve(literal), { kind: 'resolved', addresses: [literal] });
    assert.deepEqual(server.questions, []);
  });

  test('takes other spellings of an address for names, and those of digits alone for none', async (t) => {
    const { server, resolve } = await start(t, () => undefined);
    for (const name of ['127.1', '127.0.0.01', '2130706433', '0', '0x7f.0.0.1', '0x7f000001'])
      assert.equal((await resolve(name)).kind, 'notFound', name);
    const questions = ['0x7f.0.0.1 A', '0x7f.0.0.1 AAAA', '0x7f000001 A', '0x7f000001 AAAA'];
    assert.deepEqual(server.questions.toSorted(), questions);
  });

  test('asks for every name under localhost that the hosts file does not have', async (t) => {
    const { server, resolve } = await start(t, () => undefined);
    for (const name of ['localhost.', 'a.localhost']) assert.equal((await resolve(name)).kind, 'notFound', name);
    const questions = ['a.localhost A', 'a.localhost AAAA', 'localhost A', 'localhost AAAA'];
    assert.deepEqual(server.questions.toSorted(), questions);
  });

  for (const [what, a, aaaa] of [
    ['merges both families, IPv4 first', ['10.0.0.1', '10.0.0.2'], ['fd00::1']],
    ['resolves a name that has IPv6 only', [], ['fd00::1']],
  ] as const)
    test(what, async (t) => {
      const { resolve } = await start(t, () => addresses(a, aaaa));
      assert.deepEqual(await resolve('any.test'), { kind: 'resolved', addresses: [...a, ...aaaa] });
    });

  for (const [what, reply, kind] of [
    ['NXDOMAIN', { kind: 'code', code: 'NXDOMAIN' }, 'notFound'],
    ['no data', { kind: 'addresses' }, 'notFound'],
    ['SERVFAIL', { kind: 'code', code: 'SERVFAIL' }, 'unavailable'],
    ['REFUSED', { kind: 'code', code: 'REFUSED' }, 'unavailable'],
    ['silence', { kind: 'silence' }, 'unavailable'],
  ] as const)
    test(`${what} is a fault of the ${kind === 'notFound' ? 'target' : 'resolver'}`, async (t) => {
      const { resolve } = await start(t, () => reply);
      assert.equal((await resolve('any.test')).kind, kind);
    });

  test('a name that cannot exist is not found without asking', async (t) => {
    const { server, resolve } = await start(t, () => addresses(['10.0.0.1']));
    for (const name of ['', '.', 'a..b', '-a.b', 'a-.b', 'é.test', 'a b', `${'x'.repeat(64)}.test`])
      assert.equal((await resolve(name)).kind, 'notFound');
    assert.deepEqual(server.questions, []);
  });

  test('dead names do not delay a live one', async (t) => {
    const { resolve } = await start(t, (name) =>
      name === 'live.test' ? addresses(['10.0.0.1']) : { kind: 'silence' },
    );
    const order: string[] = [];
    const dead = Array.from({ length: 50 }, (_, at) => resolve(`dead${at}.test`).then(() => order.push('dead')));
    await resolve('live.test').then(() => order.push('live'));
    await Promise.all(dead);
    assert.equal(order[0], 'live');
  });

  test('a caller with less time than the lookup gets its answer when that time is over', async (t) => {
    const server = await startDnsServer(() => ({ kind: 'silence' }));
    t.after(() => server.close());
    const resolve = resolver({ clock: systemClock, servers: [server.address] });
    const order: string[] = [];
    const patient = resolve('slow.test', systemClock.monotonicMs() + farMs).then(() => order.push('patient'));
    await resolve('slow.test', systemClock.monotonicMs() + 20).then(() => order.push('hurried'));
    await patient;
    assert.deepEqual(order, ['hurried', 'patient']);
  });

  test('lookups of one name under way share one question', async (t) => {
    const { server, resolve } = await start(t, () => addresses(['10.0.0.1']));
    await Promise.all([resolve('a.test'), resolve('A.test'), resolve('a.test.')]);
    assert.deepEqual(server.questions.toSorted(), ['a.test A', 'a.test AAAA']);
  });

  test('an answer is kept for its TTL, at most 30 s, and not at all for TTL 0', async (t) => {
    let nowMs = 0;
    const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };
    let last = 1;
    const ttl: Readonly<Record<string, number>> = { 'short.test': 5, 'long.test': 3600, 'none.test': 0 };
    const { resolve } = await start(t, (name) => addresses([`10.0.0.${last}`], [], ttl[name]), clock);
    const seen = async (name: string) => {
      const resolution = await resolve(name);
      return resolution.kind === 'resolved' ? resolution.addresses[0] : resolution.kind;
    };
    const all = async () => [await seen('short.test'), await seen('long.test'), await seen('none.test')];
    assert.deepEqual(await all(), ['10.0.0.1', '10.0.0.1', '10.0.0.1']);
    last = 2;
    nowMs = 4999;
    assert.deepEqual(await all(), ['10.0.0.1', '10.0.0.1', '10.0.0.2']);
    nowMs = 5000;
    assert.deepEqual(await all(), ['10.0.0.2', '10.0.0.1', '10.0.0.2']);
    nowMs = 30_000;
    assert.equal(await seen('long.test'), '10.0.0.2');
  });
});
