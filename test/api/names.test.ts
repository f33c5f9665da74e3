/**
 * Names that every JavaScript object has already: where one is a name by Kubernetes' rules it is like any other,
 * elsewhere it is refused by name.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compilePattern } from '../../shared/bus/pattern.ts';
import { targetPath } from '../support/api-client.ts';
import { historyOf, member } from './history-of.ts';
import { list, names as namesOf } from './lists.ts';
import { apiWorld, inRegistered, inWorld, manifest, registered, type World, yaml } from './world.ts';

const names = ['constructor', 'toString', 'toLocaleString', 'hasOwnProperty', 'isPrototypeOf', 'valueOf'];
/** Of these no rule of Kubernetes allows one. */
const underscored = ['__proto__', '__defineGetter__', '__lookupSetter__'];

const path = targetPath('checkout');

/**
 * A target of this body, a text in YAML or anything else in JSON, is refused at this place, and nothing of it is
 * stored.
 */
async function assertRefused(world: World, [method, at, body]: readonly [string, string, unknown], pointer: string) {
  const before = await world.everything();
  const { places } = await world.expect(422, method, at, body, typeof body === 'string' ? yaml : {});
  assert.deepEqual(places, [pointer]);
  assert.equal(await world.everything(), before);
}

describe('keys of labels and annotations', () => {
  for (const name of names)
    test(`${name}: is stored, shown, selected by and merged`, async () => {
      const texts = member(name, 'x');
      const world = await registered({ ...manifest(), metadata: { labels: texts, annotations: texts } });
      await world.ask('PUT', targetPath('other'), manifest());
      const metadata = async () => (await world.ask('GET', path)).body.metadata;
      const shown = await metadata();
      assert.deepEqual([shown.labels, shown.annotations], [texts, texts]);
      const selected = async (selector: string) =>
        namesOf(await list(world, `?labelSelector=${encodeURIComponent(selector)}`)).toSorted();
      const of = [name, `!${name}`, `${name}=x`, `${name}!=x`, `${name} in (x)`, `${name} notin (x)`];
      const [checkout, other] = [['checkout'], ['other']];
      assert.deepEqual(await Promise.all(of.map(selected)), [checkout, other, checkout, other, checkout, other]);
      const patch = (value: unknown) => world.expect(200, 'PATCH', path, { metadata: { labels: member(name, value) } });
      await patch('y');
      assert.equal((await metadata()).labels[name], 'y');
      await patch(null);
      assert.deepEqual((await metadata()).labels, {});
    });

  for (const name of underscored)
    for (const [what, body, method] of [
      ['JSON', { ...manifest(), metadata: { labels: member(name, 'x') } }, 'PUT'],
      ['YAML', `{spec: {host: 127.0.0.1, containers: [{name: a}]}, metadata: {labels: {${name}: x}}}`, 'PUT'],
      ['a merge patch', { metadata: { labels: member(name, 'x') } }, 'PATCH'],
    ] as const)
      test(`${name} is refused in ${what}`, async () => {
        const world = method === 'PATCH' ? await registered() : apiWorld();
        await assertRefused(world, [method, path, body], `/metadata/labels/${name}`);
      });

  for (const name of underscored)
    test(`${name} is refused as an annotation`, async () => {
      const body = { ...manifest(), metadata: { annotations: member(name, 'x') } };
      await assertRefused(apiWorld(), ['PUT', path, body], `/metadata/annotations/${name}`);
    });

  test('a value that is an object under such a key is refused as well', async () => {
    const body = { ...manifest(), metadata: { labels: member('__proto__', { a: 'b' }) } };
    await assertRefused(apiWorld(), ['PUT', path, body], '/metadata/labels/__proto__');
  });
});

describe('a field that is no field', () => {
  const probe = { httpGet: { port: 80, path: '/', httpHeaders: [{ name: 'A', value: 'b' }] }, periodSeconds: 5 };
  const spec = { host: '127.0.0.1', containers: [{ name: 'main', readinessProbe: probe, env: [{ name: 'A' }] }] };
  const whole = { metadata: { labels: {} }, spec };
  const inContainer = [
    '',
    '/env/0',
    '/readinessProbe',
    '/readinessProbe/httpGet',
    '/readinessProbe/httpGet/httpHeaders/0',
  ];
  const places = ['', '/metadata', '/spec', ...inContainer.map((each) => `/spec/containers/0${each}`)];
  const withMember = (value: unknown, pointer: string, name: string): unknown => {
    const [, first, ...rest] = pointer.split('/');
    if (first === undefined) return { ...(value as object), ...member(name, { a: 1 }) };
    const inner = withMember((value as Record<string, unknown>)[first], ['', ...rest].join('/'), name);
    return Array.isArray(value) ? value.with(Number(first), inner) : { ...(value as object), [first]: inner };
  };

  for (const name of [...names, ...underscored])
    inWorld(`${name} is refused at each place of a manifest`, async (world) => {
      for (const at of places) await assertRefused(world, ['PUT', path, withMember(whole, at, name)], `${at}/${name}`);
    });

  const state = { running: { startedAt: '2026-01-01T11:59:00Z' } };
  const status = {
    containerStatuses: [{ name: 'main', containerID: 'a://1', state }],
    conditions: [{ type: 'example.com/warm', status: 'True' }],
  };
  for (const name of [...names, ...underscored])
    test(`${name} is refused in every other body`, async () => {
      const world = await registered({ spec: { ...spec, lifecycle: 'reported' } });
      for (const at of ['', '/status', '/status/containerStatuses/0', '/status/containerStatuses/0/state/running'])
        await assertRefused(world, ['PUT', `${path}/status`, withMember({ status }, at, name)], `${at}/${name}`);
      await assertRefused(world, ['POST', `${path}/probe`, member(name, 'x')], `/${name}`);
      await assertRefused(world, ['PATCH', path, { spec: member(name, 'x') }], `/spec/${name}`);
      const desired = { names: [], ...member(name, 1) };
      await assertRefused(world, ['PUT', '/v1/namespaces/other/desired', desired], `/${name}`);
    });

  for (const name of [...names, ...underscored])
    inRegistered(`${name} in the query is refused as any unknown parameter`, async (world) => {
      for (const each of ['/v1/targets', path, `${path}/events`])
        assert.deepEqual((await world.expect(400, 'GET', `${each}?${name}=1`)).places, [name]);
    });

  for (const name of [...names, ...underscored])
    inRegistered(`${name} is no media type`, async (world) => {
      const before = await world.everything();
      const refused = (method: string, at: string) => world.expect(415, method, at, '{}', { 'content-type': name });
      await refused('PUT', path);
      await refused('PATCH', path);
      await refused('PUT', `${path}/status`);
      await refused('POST', `${path}/probe`);
      await refused('PUT', '/v1/namespaces/other/desired');
      assert.equal(await world.everything(), before);
    });

  for (const name of underscored)
    inWorld(`${name} is no namespace, target or header`, async (world) => {
      const body = manifest();
      await assertRefused(world, ['PUT', targetPath('checkout', name), body], '/metadata/namespace');
      await assertRefused(world, ['PUT', targetPath(name), body], '/metadata/name');
      const httpGet = { port: 80, httpHeaders: [{ name, value: 'x' }] };
      const sent = { spec: { host: '127.0.0.1', readinessProbe: { httpGet } } };
      await assertRefused(world, ['PUT', path, sent], '/spec/readinessProbe/httpGet/httpHeaders/0/name');
    });
});

describe('a target whose namespace, name, container, port and gate are all named constructor', () => {
  /** As long as the other, so that all sizes are the same; the bucket goes by the hash of the name. */
  const ordinary = 'conductored';
  const renamed = (history: unknown, name: string) =>
    JSON.parse(
      JSON.stringify(history)
        .replaceAll(name, 'NAME')
        .replaceAll(/"pk":"[^"]*"/g, '"pk":""')
        .replaceAll(/[0-9a-f]{16}(?=#NAME)/g, 'hash'),
    );
  for (const lifecycle of ['static', 'reported'] as const)
    test(`${lifecycle}: has the history of any other`, async () => {
      const [strange, usual] = [await historyOf('constructor', lifecycle), await historyOf(ordinary, lifecycle)];
      assert.match(JSON.stringify(usual), /Container Restart Requested/);
      assert.deepEqual(renamed(strange, 'constructor'), renamed(usual, ordinary));
    });
});

describe('a pattern of events', () => {
  const parse = (text: string) => JSON.parse(text);
  for (const name of [...names, ...underscored])
    test(`finds ${name} only where it is`, () => {
      const matches = compilePattern(parse(`{"detail": {"${name}": ["x"]}}`));
      const exists = compilePattern(parse(`{"detail": {"${name}": [{"exists": true}]}}`));
      const events = [`{"detail": {"${name}": "x"}}`, '{"detail": {}}', '{"detail": {"a": "x"}}', '{}'].map(parse);
      assert.deepEqual(events.map(matches), [true, false, false, false]);
      assert.deepEqual(events.map(exists), [true, false, false, false]);
    });
});
