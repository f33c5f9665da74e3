/** Which kinds of documents are taken. A document of another kind gets one error, which says what to send instead. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, manifest, targetPath } from './world.ts';

const path = targetPath('checkout');

type Answer = { readonly errors?: readonly { readonly pointer: string; readonly detail: string }[] };

async function put(body: unknown) {
  const world = apiWorld();
  const response = await world.request('PUT', path, { body });
  const { errors = [] } = (await response.json()) as Answer;
  assert.equal((await world.everything()) > 0, response.status === 201);
  return { status: response.status, errors };
}

const foreign: readonly (readonly [kind: string, detail: RegExp])[] = [
  ...['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'ReplicationController', 'Job'].map(
    (kind) => [kind, new RegExp(`each address of a ${kind} .* the containers of spec\\.template\\.spec$`)] as const,
  ),
  ['CronJob', /the containers of spec\.jobTemplate\.spec\.template\.spec$/],
  ['PodTemplate', /the containers of template\.spec$/],
  ...['Service', 'ConfigMap', 'Node', 'constructor', '__proto__', ''].map(
    (kind) => [kind, /^must be Target \(of probelet\.dev\/v1\) or Pod \(of v1\)$/] as const,
  ),
];

describe('a document of another kind is refused for its kind alone', () => {
  for (const [kind, detail] of foreign)
    test(kind || 'without a name', async () => {
      const bodies = [{ kind, ...manifest() }, { apiVersion: 'apps/v1', kind, spec: { replicas: 1 } }, { kind }];
      for (const body of bodies) {
        const { status, errors } = await put(body);
        assert.deepEqual([status, errors.map(({ pointer }) => pointer)], [422, ['/kind']]);
        assert.match(errors[0]?.detail ?? '', detail);
      }
    });
});

test('a misspelt kind is named, with all else that is wrong', async () => {
  const { errors } = await put({ apiVersion: 'v1', kind: 'Pods', spec: { hots: '127.0.0.1' } });
  assert.deepEqual(errors.slice(0, 1), [{ pointer: '/spec/hots', detail: 'unknown field (did you mean host?)' }]);
  const kind = errors.find(({ pointer }) => pointer === '/kind');
  assert.match(kind?.detail ?? '', /\(did you mean Pod\?\)$/);
});

describe('a target says both kind and apiVersion, or neither', () => {
  const rows: readonly (readonly [
    apiVersion: string | undefined,
    kind: string | undefined,
    wrong: string | undefined,
  ])[] = [
    [undefined, undefined, undefined],
    ['v1', 'Pod', undefined],
    ['probelet.dev/v1', 'Target', undefined],
    ['v1', 'Target', '/apiVersion'],
    ['apps/v1', 'Pod', '/apiVersion'],
    [undefined, 'Pod', '/apiVersion'],
    ['v1', undefined, '/apiVersion'],
  ];
  for (const [apiVersion, kind, wrong] of rows)
    test(`${apiVersion} and ${kind}`, async () => {
      const { errors } = await put({ apiVersion, kind, ...manifest() });
      assert.deepEqual(
        errors.map(({ pointer }) => pointer),
        wrong === undefined ? [] : [wrong],
      );
    });
});
