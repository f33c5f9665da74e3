import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster } from './cluster.ts';

test('two cases that draw the same name do not share a namespace', async () => {
  const cluster = new Cluster({} as ConstructorParameters<typeof Cluster>[0]);
  const create = () => cluster.createNamespace({ metadata: { name: 'container-probe-1' } });
  const first = create();
  assert.ok(first);
  assert.equal(create(), undefined);
  assert.equal(cluster.namespace('container-probe-1'), first);
  await cluster.deleteNamespace('container-probe-1');
  assert.ok(create(), 'it is free again');
});
