/**
 * The `Warning` header of a registration: one value for each probe that can never run. The real policy and allow list
 * decide.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllowList } from '../../shared/exec/allow-list.ts';
import { allowListRefusal } from '../../shared/exec/local.ts';
import { dialPolicy, dialRefusal } from '../../shared/net/policy.ts';
import { adviser } from '../../shared/prober/advice.ts';
import type { Answer } from '../support/api-client.ts';
import { apiWorld, targetPath } from './world.ts';

const allowed = parseAllowList('/bin/true');
assert.ok(allowed.kind === 'ok');
const advise = adviser({
  dialRefusal: dialRefusal(dialPolicy({ mode: 'aws', allowCidrs: ['10.0.0.0/8'] }), () => 'name another host'),
  execRefusal: allowListRefusal(allowed.allows),
});
const world = () => apiWorld({ advise });
const path = targetPath('checkout');

const deniedProbe = { tcpSocket: { host: '169.254.169.254', port: 80 } };
const execProbe = (...command: readonly string[]) => ({ exec: { command } });
const target = (container: object, spec: object = {}) => ({
  spec: { host: '10.0.0.1', containers: [{ name: 'app', ...container }], ...spec },
});
const denied = (pointer: string) =>
  `299 - "${pointer} cannot run: the dial policy denies 169.254.169.254; name another host"`;

/** The quoted texts of the header, unquoted. */
const textsOf = ({ warning }: Answer): readonly string[] => {
  const value = warning ?? '';
  const warnings = [...value.matchAll(/299 - "((?:[^"\\]|\\.)*)"(?:, |$)/g)];
  assert.equal(warnings.map(([all]) => all).join(''), value, 'well formed');
  return warnings.map(([, text = '']) => text.replaceAll(/\\(.)/g, '$1'));
};

describe('a probe that can never run', () => {
  test('is registered all the same, and named with the reason', async () => {
    const { warning } = await world().expect(201, 'PUT', path, target({ livenessProbe: deniedProbe }));
    assert.equal(warning, denied('/spec/containers/0/livenessProbe'));
  });

  test('is named again by each PUT and PATCH, until it is changed, and never by other requests', async () => {
    const { ask } = world();
    const body = target({ livenessProbe: deniedProbe });
    const warned = denied('/spec/containers/0/livenessProbe');
    const rows = [
      ['PUT', path, body, warned],
      ['PUT', path, body, warned],
      ['PATCH', path, { metadata: { labels: { a: 'b' } } }, warned],
      ['GET', path, undefined, null],
      ['PATCH', path, target({ livenessProbe: { tcpSocket: { port: 80 } } }), null],
      ['PUT', path, body, warned],
      ['POST', `${path}/restarted`, {}, null],
      ['DELETE', path, undefined, null],
    ] as const;
    for (const [method, at, sent, expected] of rows)
      assert.equal((await ask(method, at, sent)).warning, expected, method);
  });

  test('is named by a dry run', async () => {
    const { ask } = world();
    const put = await ask('PUT', `${path}?dryRun=true`, target({ livenessProbe: deniedProbe }));
    assert.equal(put.warning, denied('/spec/containers/0/livenessProbe'));
    await ask('PUT', path, target({}));
    const patched = await ask('PATCH', `${path}?dryRun=true`, target({ readinessProbe: deniedProbe }));
    assert.equal(patched.warning, denied('/spec/containers/0/readinessProbe'));
  });

  test('is named behind the fields that are not stored', async () => {
    const { warning } = await world().ask('PUT', path, target({ image: 'x', livenessProbe: deniedProbe }));
    const notStored = '299 - "not stored, does not concern probing: spec.containers[].image"';
    assert.equal(warning, `${notStored}, ${denied('/spec/containers/0/livenessProbe')}`);
  });

  test('is named by its place in the target that is answered', async () => {
    const sidecar = { name: 'proxy', restartPolicy: 'Always', startupProbe: deniedProbe };
    const initContainers = [{ name: 'migrate' }, sidecar];
    const containers = [{ name: 'app' }, { name: 'b', readinessProbe: deniedProbe, livenessProbe: deniedProbe }];
    const { warning } = await world().ask('PUT', path, target({}, { initContainers, containers }));
    const pointers = ['containers/1/readinessProbe', 'containers/1/livenessProbe', 'initContainers/1/startupProbe'];
    assert.equal(warning, pointers.map((each) => denied(`/spec/${each}`)).join(', '));
    const short = await world().ask('PUT', path, { spec: { host: 'a', livenessProbe: deniedProbe } });
    assert.ok('livenessProbe' in (short.body.spec.containers[0] ?? {}));
    assert.equal(short.warning, denied('/spec/containers/0/livenessProbe'));
  });

  test('is named once, with all reasons', async () => {
    const refusing = apiWorld({
      advise: adviser({ dialRefusal: (host) => `no ${host}`, secretRefusal: ({ name }) => `not ${name}` }),
    });
    const httpHeaders = ['a', 'b', 'b'].map((value) => ({ name: 'X-Token', value: `env:${value}` }));
    const body = target({ livenessProbe: { httpGet: { port: 80, httpHeaders } } });
    const header = 'header X-Token: the secret env';
    assert.deepEqual(textsOf(await refusing.ask('PUT', path, body)), [
      `/spec/containers/0/livenessProbe cannot run: no 10.0.0.1, and ${header}:a cannot be resolved: not a, and ${header}:b cannot be resolved: not b`,
    ]);
  });
});

test('probes that may run are not named, and names are not looked up', async () => {
  for (const host of ['10.0.0.1', '203.1.2.3', '2606:4700::1', 'localhost', 'metadata.google.internal']) {
    const probes = { livenessProbe: execProbe('/bin/true', 'x'), readinessProbe: { tcpSocket: { host, port: 80 } } };
    assert.equal((await world().ask('PUT', path, target(probes))).warning, null, host);
  }
});

test('where nothing is known of the prober nothing is said', async () => {
  const { warning } = await apiWorld().ask('PUT', path, target({ livenessProbe: deniedProbe }));
  assert.equal(warning, null);
});

describe('the header is bounded', () => {
  const bytesMax = 16 * 1024;

  test('in the number of probes', async () => {
    const containers = Array.from({ length: 10 }, (_, index) => ({ name: `c${index}`, livenessProbe: deniedProbe }));
    const texts = textsOf(await world().ask('PUT', path, target({}, { containers })));
    assert.equal(texts.length, 9);
    assert.match(texts[7] ?? '', /^\/spec\/containers\/7\/livenessProbe cannot run: /);
    assert.equal(texts[8], '2 more probes cannot run');
  });

  test('in the length of a text, which keeps its beginning and its end', async () => {
    const body = target({ livenessProbe: execProbe(...Array(200).fill('word')) });
    const [text = ''] = textsOf(await world().ask('PUT', path, body));
    assert.equal(text.length, 400);
    assert.match(
      text,
      /^\/spec\/containers\/0\/livenessProbe cannot run: command "word word .* \.\.\. .*word" is not in the --allow-exec file$/,
    );
  });

  test('whatever clients name, in printable ASCII that reads back', async () => {
    const odd = ['"', '\\', '\r\n', '\u0000', 'ü', '\u{1f600}', '\ud800', '", 299 - "'];
    const containers = Array.from({ length: 20 }, (_, index) => ({
      name: `c${index}`,
      image: 'x',
      livenessProbe: execProbe(odd.join('').repeat(10)),
      readinessProbe: execProbe('"'.repeat(300)),
    }));
    const answer = await world().expect(201, 'PUT', path, target({}, { containers }));
    const warning = answer.warning ?? '';
    assert.match(warning, /^[\x20-\x7e]+$/);
    assert.ok(warning.length < bytesMax, String(warning.length));
    assert.equal(textsOf(answer).length, 1 + 8 + 1);
  });
});
