import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { apiWorld, targetPath, targetsPath, yaml } from './world.ts';

const folder = new URL('../../examples/', import.meta.url);
/** Of more than one target. */
const several = 'several-targets';
/** No manifest of the API: test/examples/deployment.test.ts converts it. */
const compose = 'compose';
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.replace('.yaml', ''))
  .filter((name) => name !== several && name !== compose);

const read = (name: string) => readFileSync(new URL(`${name}.yaml`, folder), 'utf8');
const register = (name: string) => apiWorld().expect(201, 'PUT', targetPath(name), read(name), yaml);

describe('examples are registered as they are', () => {
  for (const name of names)
    test(name, async () => assert.equal((await register(name)).warning !== null, name === 'kubernetes-pod'));
});

test('several targets are registered in one request, as they are', async () => {
  type Applied = { readonly items: readonly { readonly name: string; readonly status: number }[] };
  const { body } = await apiWorld().ask<Applied>('PUT', targetsPath, read(several), yaml);
  const applied = body.items.map(({ name, status }) => `${name} ${status}`);
  assert.deepEqual(applied, ['cache 201', 'shop-1 201', 'shop-2 201']);
});

test('of a Kubernetes Pod everything that concerns probing is kept, and the rest is named', async () => {
  const { warning, body } = await register('kubernetes-pod');
  const { metadata, spec } = body;
  assert.equal(spec.host, '127.0.0.1');
  assert.equal(metadata.resourceVersion, '1');
  assert.notEqual(metadata.uid, '5a1f6c1e-0d0e-4a43-9a4e-51b6a2a3c7a1');
  assert.partialDeepStrictEqual(spec, {
    terminationGracePeriodSeconds: 45,
    readinessGates: [{ conditionType: 'example.com/load-balancer' }],
    initContainers: [
      { name: 'migrate' },
      { name: 'proxy', restartPolicy: 'Always', startupProbe: { periodSeconds: 1, failureThreshold: 30 } },
    ],
    containers: [
      {
        name: 'shop',
        ports: [{ name: 'http', containerPort: 8080 }],
        env: [{ name: 'MODE', value: 'production' }],
        readinessProbe: {
          httpGet: { path: '/ready', port: 'http', httpHeaders: [{ name: 'X-Probe', value: 'readiness' }] },
        },
        livenessProbe: { exec: { command: ['/bin/live', '$(MODE)'] }, periodSeconds: 20 },
      },
      { name: 'exporter', livenessProbe: { tcpSocket: { port: 9102 }, initialDelaySeconds: 15 } },
    ],
  });
  const ignored = /^299 - "not stored, does not concern probing: (.*)"$/.exec(warning ?? '')?.[1];
  assert.deepEqual(ignored?.split(', '), [
    'metadata.uid',
    'metadata.resourceVersion',
    'metadata.creationTimestamp',
    'metadata.ownerReferences',
    'spec.nodeName',
    'spec.serviceAccountName',
    'spec.dnsPolicy',
    'spec.tolerations',
    'spec.volumes',
    'spec.initContainers[].image',
    'spec.initContainers[].command',
    'spec.initContainers[].ports[].protocol',
    'spec.containers[].image',
    'spec.containers[].imagePullPolicy',
    'spec.containers[].args',
    'spec.containers[].env[]',
    'spec.containers[].ports[].protocol',
    'spec.containers[].resources',
    'spec.containers[].volumeMounts',
    'status.phase',
    'status.hostIP',
    'status.conditions',
  ]);
});

describe('the address of a target', () => {
  const probe = { tcpSocket: { port: 80 } };
  const metadata = { annotations: { 'probelet.dev/host': 'c' } };
  const status = { podIP: '10.0.0.2' };
  const rows: readonly (readonly [what: string, body: object, host: string])[] = [
    ['spec.host', { spec: { host: 'a', readinessProbe: probe }, status }, 'a'],
    ['else status.podIP', { metadata, spec: { readinessProbe: probe }, status }, '10.0.0.2'],
    ['else the annotation', { metadata, spec: { readinessProbe: probe } }, 'c'],
  ];
  for (const [what, body, host] of rows)
    test(what, async () => {
      const { spec } = (await apiWorld().ask('PUT', targetPath('checkout'), body)).body;
      assert.equal(spec.host, host);
    });
});

test('a null is read as absent, as Kubernetes does', async () => {
  const body = {
    metadata: { labels: null, creationTimestamp: null },
    spec: { host: 'a', initContainers: null, readinessProbe: { tcpSocket: { port: 80, host: null } } },
    status: null,
  };
  assert.equal((await apiWorld().expect(201, 'PUT', targetPath('checkout'), body)).warning, null);
});
