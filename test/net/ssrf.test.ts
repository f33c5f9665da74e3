/**
 * The table of SECURITY.md: on AWS nothing of this machine is reached, however it is spelled, named or redirected to.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import type { Dial, DialPolicy } from '../../shared/net/net.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { type DnsReply, startDnsServer } from '../support/dns-server.ts';
import { listenWith, portOf } from '../support/tcp-server.ts';
import { testsIn } from '../support/tests-in.ts';

/** As they stand in a probe's `host`, where an IPv6 address has no brackets. */
const spellings = [
  ...['localhost', 'LOCALHOST', '127.0.0.1', '127.0.0.2', '0.0.0.0'],
  ...[
    '::1',
    '0:0:0:0:0:0:0:1',
    '::',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0.0.0.0',
    '::7f00:1',
    '::ffff:0:7f00:1',
  ],
  ...['64:ff9b::7f00:1', '64:ff9b::127.0.0.1', '64:ff9b:1::7f00:1', '2002:7f00:1::', '2002:7f00:1::1'],
  ...['2001:0:7f00:1::', '2001:0:4136:e378:8000:63bf:80ff:fffe', 'fe80::1', 'fd00:ec2::254', '169.254.169.254'],
  ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', '::127.0.0.1', '::8.8.8.8'],
  ...['100.100.100.200', '192.0.0.192', '168.63.129.16', 'fd20:ce::254', '::ffff:168.63.129.16'],
];

/** Addresses to the C library, names to Go and to this product. */
const namesLikeAddresses = [
  ...[
    'localhost.',
    'a.localhost',
    '127.1',
    '127.0.1',
    '127.0.0.01',
    '2130706433',
    '0x7f000001',
    '0X7F.0.0.1',
    '0x7f.1',
  ],
  ...['017700000001', '0177.0.0.1', '0', '0x0', '2852039166', '0xa9fea9fe', '1２7.1', '１２７.0.0.01'],
];

/** What names of ours lead to. */
const names: Readonly<Record<string, DnsReply>> = {
  'loopback.test': { kind: 'addresses', a: ['127.0.0.1'], aaaa: ['::1'] },
  'mapped.test': { kind: 'addresses', aaaa: ['::ffff:127.0.0.1'] },
  'nat64.test': { kind: 'addresses', aaaa: ['64:ff9b::7f00:1'] },
  'sixtofour.test': { kind: 'addresses', aaaa: ['2002:7f00:1::'] },
  'metadata.test': { kind: 'addresses', a: ['169.254.169.254'], aaaa: ['fd00:ec2::254'] },
  'nothing.test': { kind: 'addresses', a: ['0.0.0.0'], aaaa: ['::'] },
};

const timeoutMs = 60_000;
const container = { name: 'main' };
const target = { namespace: 'default', name: 'target', uid: 'uid' };

function httpProbe(dial: Dial, url: { readonly host: string; readonly port: number; readonly scheme?: string }) {
  const handler = { httpGet: { ...url, path: '/' }, timeoutSeconds: timeoutMs / 1000 };
  const resolved = resolveProbeRequest(handler, { target, host: url.host, container });
  if (resolved.kind === 'error' || resolved.request.kind !== 'http') assert.fail('no HTTP request');
  return httpProber({ dial, clock })(resolved.request);
}

/** Listens on both loopback addresses at one port, and counts who comes. */
async function victim(t: TestContext) {
  let reached = 0;
  const listen = async (host: string, port: number): Promise<Server> => {
    const server = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    t.after(() => server.close());
    server.listen({ host, port, ipv6Only: true });
    await once(server, 'listening');
    return server;
  };
  const address = (await listen('127.0.0.1', 0)).address();
  if (address === null || typeof address === 'string') assert.fail('no port');
  await listen('::1', address.port);
  return { port: address.port, reached: () => reached };
}

async function guarded(
  t: TestContext,
  reply: (name: string) => DnsReply | undefined,
  policy: DialPolicy,
): Promise<Dial> {
  const dns = await startDnsServer(reply);
  t.after(() => dns.close());
  return guardedDialer({ resolve: resolver({ clock, servers: [dns.address] }), policy, clock });
}

function assertDenied({ error, failureClass }: Attempt, what: string): void {
  assert.equal(failureClass, 'POLICY_DENIED', what);
  assert.match(error ?? '', /denied by the dial policy/, `${what}: a prober error, not a failure of the target`);
}

describe('on AWS nothing of this machine is reached', () => {
  for (const allowCidrs of [[], ['10.0.0.0/8', 'fc00::/7'], ['0.0.0.0/0', '::/0']]) {
    const policy = dialPolicy({ mode: 'aws', allowCidrs });
    test(`by any spelling or name, with ${JSON.stringify(allowCidrs)} allowed`, async (t) => {
      const { port, reached } = await victim(t);
      const dial = await guarded(t, (name) => names[name], policy);
      for (const host of [...spellings, ...Object.keys(names)]) {
        assertDenied(await httpProbe(dial, { host, port }), `http ${host}`);
        assertDenied(await httpProbe(dial, { host, port, scheme: 'HTTPS' }), `https ${host}`);
        assertDenied(await tcpProber({ dial, clock })({ kind: 'tcp', host, port, timeoutMs }), `tcp ${host}`);
        const grpc = grpcProber({ dial, clock });
        assertDenied(await grpc({ kind: 'grpc', host, port, service: '', timeoutMs }), `grpc ${host}`);
      }
      assert.equal(reached(), 0);
    });
  }
});

const besideVictim = testsIn((t) => victim(t));

describe('a name that looks like an address of this machine', () => {
  const policy = dialPolicy({ mode: 'aws' });

  besideVictim('is looked up and never read as that address', async ({ port, reached }, t) => {
    const dial = await guarded(t, () => undefined, policy);
    for (const host of namesLikeAddresses) {
      assert.equal((await httpProbe(dial, { host, port })).failureClass, 'DNS', `http ${host}`);
      assert.equal((await httpProbe(dial, { host, port, scheme: 'HTTPS' })).failureClass, 'DNS', `https ${host}`);
      const tcp = await tcpProber({ dial, clock })({ kind: 'tcp', host, port, timeoutMs });
      assert.deepEqual([tcp.outcome, tcp.failureClass], ['failure', 'DNS'], `tcp ${host}`);
    }
    assert.equal(reached(), 0);
  });

  besideVictim('is denied where DNS gives it that address', async ({ port, reached }, t) => {
    const dial = await guarded(t, () => ({ kind: 'addresses', a: ['127.0.0.1'], aaaa: ['::1'] }), policy);
    for (const host of ['localhost.', 'a.localhost', '0x7f000001', '0X7F.0.0.1', '0x7f.1', '0xa9fea9fe'])
      assertDenied(await httpProbe(dial, { host, port }), host);
    assert.equal(reached(), 0);
  });
});

/** A name that leads to ::1, which the test allows, until it was asked once, and to 127.0.0.1 ever after. */
function rebinding(): (name: string) => DnsReply {
  let asked = 0;
  const questionsPerLookup = 2;
  return () => {
    asked += 1;
    const isFirst = asked <= questionsPerLookup;
    return isFirst ? { kind: 'addresses', aaaa: ['::1'] } : { kind: 'addresses', a: ['127.0.0.1'] };
  };
}

/** AWS's policy, and ::1 beside it, so that there is a first server that may be reached. */
const withFront: DialPolicy = (address) => address === '::1' || dialPolicy({ mode: 'aws' })(address);

/** Answers every request with a redirect. */
function front(t: TestContext, location: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`));
  });
  return portOf(t, listenWith(server, '::1'));
}

describe('a second look at a name', () => {
  besideVictim('is guarded when a rebinding name comes up again', async ({ port, reached }, t) => {
    const dial = await guarded(t, rebinding(), withFront);
    const frontPort = await front(t, '');
    assert.equal((await httpProbe(dial, { host: 'rebind.test', port: frontPort })).outcome, 'warning');
    assertDenied(await httpProbe(dial, { host: 'rebind.test', port }), 'the second probe');
    assert.equal(reached(), 0);
  });

  for (const [what, scheme] of [
    ['is guarded at a redirect to the same name', 'http'],
    ['is guarded at a redirect that changes to HTTPS', 'https'],
  ] as const)
    besideVictim(what, async ({ port, reached }, t) => {
      const dial = await guarded(t, rebinding(), withFront);
      const frontPort = await front(t, `${scheme}://rebind.test:${port}/`);
      assertDenied(await httpProbe(dial, { host: 'rebind.test', port: frontPort }), 'the redirect');
      assert.equal(reached(), 0);
    });

  besideVictim('does not happen at a redirect to another name or spelling', async ({ port, reached }, t) => {
    const dial = await guarded(t, (name) => names[name], withFront);
    for (const host of spellings.filter((spelling) => spelling !== '::1')) {
      const frontPort = await front(t, `http://${host.includes(':') ? `[${host}]` : host}:${port}/`);
      assert.equal((await httpProbe(dial, { host: '::1', port: frontPort })).outcome, 'warning', host);
    }
    assert.equal(reached(), 0);
  });
});

describe('the resolver and a probe', () => {
  const local = dialPolicy({ mode: 'local' });

  test('a name that does not exist is a failure of class DNS', async (t) => {
    const dial = await guarded(t, () => undefined, local);
    const { outcome, output, error, failureClass } = await httpProbe(dial, { host: 'gone.test', port: 80 });
    assert.deepEqual([outcome, error, failureClass], ['failure', undefined, 'DNS']);
    assert.equal(output, 'Get "http://gone.test:80/": dial tcp: lookup gone.test: no such host');
  });

  for (const reply of [{ kind: 'code', code: 'SERVFAIL' }, { kind: 'silence' }] as const satisfies readonly DnsReply[])
    test(`${reply.kind === 'code' ? reply.code : 'a resolver that does not answer'} is a prober error`, async (t) => {
      const dial = await guarded(t, () => reply, local);
      const { error, failureClass } = await httpProbe(dial, { host: 'any.test', port: 80 });
      assert.equal(failureClass, 'PROBER');
      assert.match(error ?? '', /lookup any\.test/);
    });
});
