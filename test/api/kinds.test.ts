/** Which kinds of documents are taken. A document of another kind gets one error, which says what to send instead. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { apiWorld, manifest, targetPath } from './world.ts';

const path = targetPath('checkout');

async function put(body: unknown) {
  const world = apiWorld();
  const answer = await world.ask('PUT', path, body);
  assert.equal((await world.everything()) > 0, answer.status === 201);
  return { ...answer, errors: answer.body.errors };
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
        const { status, places, errors } = await put(body);
        assert.deepEqual([status, places], [422, ['/kind']]);
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
  const rows: readonly (readonly [apiVersion: string | undefined, kind: string | undefined, isTaken: boolean])[] = [
    [undefined, undefined, true],
    ['v1', 'Pod', true],
    ['probelet.dev/v1', 'Target', true],
    ['v1', 'Target', false],
    ['apps/v1', 'Pod', false],
    [undefined, 'Pod', false],
    ['v1', undefined, false],
  ];
  for (const [apiVersion, kind, isTaken] of rows)
    test(`${apiVersion} and ${kind}`, async () => {
      const { places } = await put({ apiVersion, kind, ...manifest() });
      assert.deepEqual(places, isTaken ? [] : ['/apiVersion']);
    });
});
