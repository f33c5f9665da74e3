import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dnsServers, localCanaries } from '../../../functions/local/process/canaries.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { startTcpServer } from '../../support/tcp-server.ts';

const host = '127.0.0.1';
const resolve = async (name: string) => ({ kind: 'resolved' as const, addresses: [name] });

/** What is there once it has had the time to turn up. */
async function listed(canaries: ReturnType<typeof localCanaries>, count: number) {
  for (let turn = 0; turn < 200 && canaries.list.length < count; turn += 1) await sleep(systemClock, 10);
  return canaries.list.map(({ port }) => port);
}

test('a machine’s canaries are a listener of its own, and those on its way out that answer', async (t) => {
  const [open, closed] = [await startTcpServer('accept-close', host), await startTcpServer('closed', host)];
  t.after(() => Promise.all([open.close(), closed.close()]));
  const log = recordingLog();
  const wayOut = { kind: 'found' as const, canaries: [open, closed].map(({ port }) => ({ host, port })) };
  const canaries = localCanaries({ clock: systemClock, resolve, log, wayOut });
  const ports = await listed(canaries, 2);
  assert.equal(ports.length, 2);
  assert.ok(ports.includes(open.port));
  assert.ok(!ports.includes(closed.port));
  await canaries.close();
  assert.deepEqual(log.lines, []);
});

test('those that are configured count from the start', async () => {
  const named = { host: '192.0.2.1', port: 443 };
  const wayOut = { kind: 'named' as const, canaries: [named] };
  const canaries = localCanaries({ clock: systemClock, resolve, log: recordingLog(), wayOut });
  assert.deepEqual(canaries.list, [named]);
  await canaries.close();
});

test('a machine without one beyond itself says so', async () => {
  const log = recordingLog();
  const canaries = localCanaries({ clock: systemClock, resolve, log, wayOut: { kind: 'found', canaries: [] } });
  await listed(canaries, 1);
  assert.match(JSON.stringify(log.lines), /no canary beyond this machine.*--canary HOST:PORT/);
  await canaries.close();
});

test('DNS servers on loopback stand for those that they ask', () => {
  const forwarded = () => '# of systemd-resolved\nnameserver 192.0.2.53\nnameserver 2001:db8::53\nsearch example.com\n';
  const hosts = (own: readonly string[], text = forwarded) =>
    dnsServers(own.map((server) => `nameserver ${server}\n`).join(''), text).map(({ host: server }) => server);
  assert.deepEqual(hosts(['127.0.0.53']), ['192.0.2.53', '2001:db8::53']);
  assert.deepEqual(hosts(['127.0.0.53', '198.51.100.1']), ['198.51.100.1']);
  assert.deepEqual(hosts(['2001:db8::1', '::1']), ['2001:db8::1']);
  assert.deepEqual(hosts([]), ['192.0.2.53', '2001:db8::53'], 'without a server this machine is asked');
  const none = hosts(['127.0.0.11'], () => '');
  assert.deepEqual(none, []);
});

test('are given up at once when the process stops', async (t) => {
  const silent = await startTcpServer('backlog-full', host);
  t.after(silent.close);
  const canaries = localCanaries({
    clock: systemClock,
    resolve,
    log: recordingLog(),
    wayOut: { kind: 'found', canaries: [{ host, port: silent.port }] },
  });
  await listed(canaries, 1);
  await canaries.close();
  assert.equal(canaries.list.length, 1);
});
