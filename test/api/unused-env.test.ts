/** Variables of containers that no probe names: many are passwords, so no route stores or shows them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { envMax } from '../../shared/core/spec/limits.ts';
import { apiWorld, targetPath } from './world.ts';

const secret = 'pa55word';
const exec = (...command: readonly string[]) => ({ exec: { command } });

type Container = { readonly name?: string; readonly env?: unknown; readonly [field: string]: unknown };

const manifestOf = (container: Container, list = 'containers') => ({
  metadata: { name: 'db', namespace: 'default' },
  spec: { host: '127.0.0.1', [list]: [{ name: 'db', ...container }] },
});

const withPassword = manifestOf({
  env: [
    { name: 'PASSWORD', value: secret },
    { name: 'USER', value: 'shop' },
  ],
  readinessProbe: exec('check', '-U', '$(USER)'),
});

const path = targetPath('db');
const stored = async (world: ReturnType<typeof apiWorld>) => JSON.stringify(await world.items('db'));

/** Each way to the store. */
const routes: {
  readonly [route: string]: (world: ReturnType<typeof apiWorld>, manifest: typeof withPassword) => Promise<unknown>;
} = {
  PUT: async (world, manifest) => (await world.expect(201, 'PUT', path, manifest)).text,
  POST: async (world, manifest) => (await world.expect(201, 'POST', '/v1/namespaces/default/targets', manifest)).text,
  PATCH: async (world, manifest) => {
    await world.expect(201, 'PUT', path, manifestOf({ readinessProbe: exec('check') }));
    const patch = { 'content-type': 'application/merge-patch+json' };
    return (await world.expect(200, 'PATCH', path, { spec: manifest.spec }, patch)).text;
  },
  'PUT of several': async (world, manifest) => {
    const list = { apiVersion: 'probelet.dev/v1', kind: 'TargetList', items: [manifest] };
    return (await world.expect(200, 'PUT', '/v1/namespaces/default/targets', list)).text;
  },
  'PUT of lines': async (world, manifest) => {
    const lines = { 'content-type': 'application/x-ndjson' };
    return (await world.expect(200, 'PUT', '/v1/targets:apply', JSON.stringify(manifest), lines)).text;
  },
};

describe('a variable that no probe names', () => {
  for (const [route, send] of Object.entries(routes))
    test(`is neither stored nor shown by ${route}, and a warning says so`, async () => {
      const world = apiWorld();
      const answer = String(await send(world, withPassword));
      for (const text of [answer, await stored(world), (await world.expect(200, 'GET', path)).text])
        assert.ok(!text.includes(secret), text);
      assert.match(await stored(world), /"env":\[\{"name":"USER","value":"shop"\}\]/);
    });

  test('is named by the warning', async () => {
    const { warning } = await apiWorld().expect(201, 'PUT', path, withPassword);
    assert.equal(warning, '299 - "not stored, does not concern probing: spec.containers[].env[]"');
  });

  const probe = (field: string, ...words: readonly string[]) => ({ [field]: exec('check', ...words) });
  const rows: readonly (readonly [what: string, container: Container, kept: readonly string[]])[] = [
    ['named by readiness', probe('readinessProbe', '$(A)'), ['A']],
    [
      'named by liveness and startup',
      { ...probe('livenessProbe', '$(A)'), ...probe('startupProbe', 'x$(B)y') },
      ['A', 'B'],
    ],
    ['escaped', probe('readinessProbe', '$$(A)'), []],
    ['of a shell', probe('readinessProbe', '$A "$B"'), []],
    ['behind an escaped dollar', probe('readinessProbe', '$$$(A)'), ['A']],
    ['not closed', probe('readinessProbe', '$(A'), []],
    ['named in a path', { readinessProbe: { httpGet: { port: 80, path: '/$(A)' } } }, []],
    ['without a probe', {}, []],
  ];
  for (const [what, container, kept] of rows)
    for (const list of ['containers', 'initContainers'])
      test(`${what}: of ${list} ${kept.join() || 'nothing'} is kept`, async () => {
        const env = ['A', 'B'].map((name) => ({ name, value: secret }));
        const world = apiWorld();
        const own = manifestOf(
          { env, restartPolicy: list === 'containers' ? undefined : 'Always', ...container },
          list,
        );
        const main = { name: 'main', readinessProbe: { tcpSocket: { port: 1 } } };
        const manifest = list === 'containers' ? own : { ...own, spec: { ...own.spec, containers: [main] } };
        await world.expect(201, 'PUT', path, manifest);
        const names = (await stored(world)).match(/(?<="name":")[AB](?=")/g) ?? [];
        assert.deepEqual(names, kept);
      });

  test('counts for no limit', async () => {
    const env = Array.from({ length: 2 * envMax }, (_, index) => ({ name: `A${index}`, value: secret }));
    const container = { env, readinessProbe: exec('check', '$(A1)') };
    await apiWorld().expect(201, 'PUT', path, manifestOf(container));
    const all = env.map(({ name }) => `$(${name})`).join('');
    await apiWorld().expect(422, 'PUT', path, manifestOf({ ...container, readinessProbe: exec('check', all) }));
  });

  test('is refused where it is wrong, at its place', async () => {
    const right = { name: 'A', value: 'a' };
    for (const [wrong, pointer] of [
      [{ name: 'A=', value: 'a' }, '/1/name'],
      [{ name: 'B', value: 1 }, '/1/value'],
      [{ name: 'B', vlaue: 'b' }, '/1/vlaue'],
      ['B', '/1'],
      [null, '/1'],
    ] as const) {
      const container = { env: [right, wrong], readinessProbe: exec('check') };
      const { body } = await apiWorld().expect<{ readonly errors: readonly { readonly pointer: string }[] }>(
        422,
        'PUT',
        path,
        manifestOf(container),
      );
      assert.deepEqual(
        body.errors.map((error) => error.pointer),
        [`/spec/containers/0/env${pointer}`],
      );
    }
  });
});
