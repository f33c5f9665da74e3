/**
 * What a process of `npm start` says at registration of probes that its prober refuses, compared with what the prober
 * does.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { parseOptions } from '../../../functions/local/options/options.ts';
import { startControl } from '../../../functions/local/process/control.ts';
import { localProbing } from '../../../functions/local/process/probing.ts';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { decodeManifest } from '../../../shared/api/schema/decode-manifest.ts';
import { specProbes, type TargetSpec } from '../../../shared/core/spec/spec.ts';
import { parseAllowList } from '../../../shared/exec/allow-list.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { probe } from '../../../shared/prober/probe.ts';
import { askApi, type Served, targetPath } from '../../support/api-client.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { startProduct } from '../product.ts';
import { servicesInMemory } from '../services.ts';

const [clock, random, log] = [systemClock, systemRandom, recordingLog()];
const name = { namespace: 'default', name: 'checkout' };

process.env.PROBELET_SECRET_TOKEN = 'hush';

const parsedList = parseAllowList('/bin/true\n["/bin/echo","a"]');
assert.ok(parsedList.kind === 'ok');
const allowExec = parsedList.allows;
const given = parseOptions(['TOKEN', 'MISSING'].flatMap((each) => ['--secret', `PROBELET_SECRET_${each}=127.0.0.1:9`]));
assert.ok(given.kind === 'alone' && given.options.secretHosts);
const { secretHosts } = given.options;

/** Port 9 of loopback refuses at once. */
const tcp = (host: string) => ({ tcpSocket: { host, port: 9 } });
const http = (host: string, port = 9, headers: { readonly [name: string]: string } = {}) => ({
  httpGet: { host, port, httpHeaders: Object.entries(headers).map(([header, value]) => ({ name: header, value })) },
});
const exec = (...command: readonly string[]) => ({ exec: { command } });
const token = 'env:PROBELET_SECRET_TOKEN';
const other = 'env:PROBELET_SECRET_OTHER';
const missing = 'env:PROBELET_SECRET_MISSING';
const withSecret = (reference: string, port = 9) => http('127.0.0.1', port, { Authorization: reference });

type Handler = { readonly [kind: string]: unknown };
/** The words of the advice; absent: none. */
type Row = readonly [what: string, handler: Handler, advice?: RegExp];

const denied = (host: string) =>
  new RegExp(`the dial policy denies ${host.replaceAll('.', '[.]')}; no option allows it`);

const noRequest = /request cannot be made: .* another port, host or path would allow it/;

const rows: readonly Row[] = [
  ['loopback', tcp('127.0.0.1')],
  ['loopback of IPv6', http('::1')],
  ...[
    ...['169.254.169.254', '0.0.0.0', '224.0.0.1', '255.255.255.255', '100.100.100.200', '::', '::127.0.0.1'],
    ...['::ffff:169.254.169.254', '64:ff9b::a9fe:a9fe', 'fd00:ec2::254', 'fe80::1', 'fe80::1%lo', 'ff02::1'],
  ].flatMap((host): readonly Row[] => [
    [`tcp to ${host}`, tcp(host), denied(host)],
    [`http to ${host}`, http(host), denied(host)],
  ]),
  ['a program of the list', exec('/bin/true', 'x')],
  ['a command of the list', exec('/bin/echo', 'a')],
  ['a command of the list, by a variable', exec('/bin/echo', '$(LETTER)')],
  ['another command', exec('/bin/echo', 'b'), /command "\/bin\/echo b" is not in the --allow-exec file; .* FILE/],
  ['a word with NUL', exec('/bin/true', '\0'), /contains NUL; remove it/],
  ['a secret for this host', withSecret(token)],
  ['a secret for another port', withSecret(token, 10), /--secret PROBELET_SECRET_TOKEN=127\.0\.0\.1:10 /],
  ['a secret that is not named', withSecret(other), /--secret PROBELET_SECRET_OTHER=127\.0\.0\.1:9 /],
  ['a variable that there is not', withSecret(missing), /there is no such variable; .* environment/],
  ['a variable for something else', withSecret('env:PATH'), /has to begin with PROBELET_SECRET_/],
  ['a secret of AWS', withSecret('ssm:/probelet/token'), /resolves env: alone/],
  ['a port without a number', { tcpSocket: { host: '127.0.0.1', port: 'none' } }, noRequest],
];

const specOf = (handler: Handler, host = '127.0.0.1'): TargetSpec => {
  const env = [{ name: 'LETTER', value: 'a' }];
  const decoded = decodeManifest({ spec: { host, containers: [{ name: 'main', env, livenessProbe: handler }] } }, name);
  assert.ok(decoded.kind === 'ok', JSON.stringify(decoded));
  return decoded.value.target.spec;
};

describe('advice is given of what the prober then refuses, and of nothing else', () => {
  const probing = localProbing({ clock, log, allowExec, secretHosts });
  const { probers, abandon } = probing.forRun();
  after(async () => {
    abandon();
    await probing.close();
  });

  for (const [what, handler, advice] of rows)
    test(what, async () => {
      const spec = specOf(handler);
      const [advised, ...more] = probing.advise(spec);
      assert.deepEqual(more, []);
      const [first] = specProbes(spec);
      assert.ok(first);
      const { probeType, container } = first;
      const order = { target: { ...name, uid: 'u' }, host: spec.host, container: container.spec, handler: first.probe };
      const report = await probe({ probers, clock }, { ...order, probeType, containerKind: container.kind });
      assert.equal(report.conclusion.kind === 'error', advice !== undefined, JSON.stringify(report.conclusion));
      assert.equal(advised?.pointer, advice && '/spec/containers/0/livenessProbe');
      if (advice) assert.match(advised?.detail ?? '', advice);
    });

  test('the address of the target counts where a handler has none', () => {
    const [advised] = probing.advise(specOf({ grpc: { port: 9 } }, '169.254.169.254'));
    assert.match(advised?.detail ?? '', denied('169.254.169.254'));
    assert.deepEqual(probing.advise(specOf(tcp('127.0.0.1'), '169.254.169.254')), []);
    assert.deepEqual(probing.advise(specOf(exec('/bin/true'), '169.254.169.254')), []);
  });

  test('a name is not looked up', () => {
    for (const host of ['metadata.google.internal', '169.254.169.254.example.com', '0x7f.1'])
      assert.deepEqual(probing.advise(specOf(tcp(host))), []);
  });

  test('the secret itself is in none of it', () => {
    for (const [, handler] of rows) assert.doesNotMatch(JSON.stringify(probing.advise(specOf(handler))), /hush/);
  });
});

async function warningOf(served: Served, handler: Handler): Promise<string | null> {
  const body = { spec: { host: '127.0.0.1', livenessProbe: handler } };
  const { status, warning } = await askApi(served, 'PUT', `${targetPath('checkout')}?dryRun=true`, body);
  assert.equal(status, 201);
  return warning;
}

const warns = async (served: Served, handler: Handler, warning: RegExp) =>
  assert.match((await warningOf(served, handler)) ?? '', warning);

test('one process alone warns by its options', async (t) => {
  const off = startRuntime({ dataDir: ':memory:' }, { clock, random, log });
  t.after(off.stop);
  await warns(off, exec('/bin/true'), /exec probes are off: no --allow-exec file was given; /);
  await warns(off, withSecret(token), /may not be sent to 127\.0\.0\.1:9; /);
  assert.equal(await warningOf(off, tcp('127.0.0.1')), null);

  const on = startRuntime({ dataDir: ':memory:', allowExec, secretHosts }, { clock, random, log });
  t.after(on.stop);
  for (const handler of [exec('/bin/true'), withSecret(token)]) assert.equal(await warningOf(on, handler), null);
  await warns(on, exec('/bin/false'), /is not in the --allow-exec file; /);
});

describe('a control process, which does not probe', () => {
  const controlled = async (options: object, ask: (control: Served) => Promise<void>) => {
    const services = servicesInMemory(clock);
    const control = startControl({ release: '', ...options }, { clock, random, log, services });
    await ask(control).finally(control.stop);
  };

  test('warns of addresses, which no worker dials', () =>
    controlled({}, (control) => warns(control, tcp('169.254.169.254'), denied('169.254.169.254'))));

  test('says nothing of commands and secrets that only the workers know of', () =>
    controlled({}, async (control) => {
      for (const handler of [exec('/bin/false'), withSecret(other)])
        assert.equal(await warningOf(control, handler), null);
    }));

  test('warns by --allow-exec and --secret, but not of variables that the workers may have', () =>
    controlled({ allowExec, secretHosts }, async (control) => {
      await warns(control, exec('/bin/false'), /is not in the --allow-exec file; /);
      await warns(control, withSecret(other), /may not be sent/);
      for (const handler of [exec('/bin/true'), withSecret(missing)])
        assert.equal(await warningOf(control, handler), null);
    }));
});

test('a process says which secrets of its options have no value', async () => {
  const names = ['PROBELET_SECRET_UNSET', 'PROBELET_SECRET_TOKEN', 'PROBELET_SECRET_GONE'];
  const secrets = names.flatMap((each) => ['--secret', `${each}=127.0.0.1`]);
  const warning = (each: string) =>
    `probelet: warning: --secret ${each}: there is no such variable in the environment, .*\n`;
  const ready = new RegExp(`^${warning('PROBELET_SECRET_UNSET')}${warning('PROBELET_SECRET_GONE')}probelet listens`);
  const product = await startProduct(['--port', '0', '--data-dir', ':memory:', ...secrets], { ready });
  await product.stop();
});
