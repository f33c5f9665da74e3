import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { apiWorld, targetPath } from './world.ts';

const folder = new URL('../../examples/', import.meta.url);
/** Of more than one target. */
const several = 'several-targets';
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .map((file) => file.replace('.yaml', ''))
  .filter((name) => name !== several);

async function register(name: string) {
  const world = apiWorld();
  const response = await world.request('PUT', targetPath(name), {
    headers: { 'content-type': 'application/yaml' },
    body: readFileSync(new URL(`${name}.yaml`, folder), 'utf8'),
  });
  return { world, response };
}

describe('examples are registered as they are', () => {
  for (const name of names)
    test(name, async () => {
      const { response } = await register(name);
      assert.equal(response.status, 201);
      assert.equal(response.headers.has('warning'), name === 'kubernetes-pod');
    });
});

test('several targets are registered in one request, as they are', async () => {
  const response = await apiWorld().request('PUT', '/v1/namespaces/default/targets', {
    headers: { 'content-type': 'application/yaml' },
    body: readFileSync(new URL(`${several}.yaml`, folder), 'utf8'),
  });
  const { items } = (await response.json()) as { readonly items: readonly { name: string; status: number }[] };
  assert.deepEqual(
    items.map(({ name, status }) => `${name} ${status}`),
    ['cache 201', 'shop-1 201', 'shop-2 201'],
  );
});

test('of a Kubernetes Pod everything that concerns probing is kept, and the rest is named', async () => {
  const { response } = await register('kubernetes-pod');
  const { metadata, spec } = (await response.json()) as Record<string, Record<string, unknown>>;
  assert.equal(spec?.host, '127.0.0.1');
  assert.equal(metadata?.resourceVersion, '1');
  assert.notEqual(metadata?.uid, '5a1f6c1e-0d0e-4a43-9a4e-51b6a2a3c7a1');
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
        env: [
          { name: 'MODE', value: 'production' },
          { name: 'POD_IP', value: '' },
        ],
        readinessProbe: {
          httpGet: { path: '/ready', port: 'http', httpHeaders: [{ name: 'X-Probe', value: 'readiness' }] },
        },
        livenessProbe: { exec: { command: ['/bin/live', '$(MODE)'] }, periodSeconds: 20 },
      },
      { name: 'exporter', livenessProbe: { tcpSocket: { port: 9102 }, initialDelaySeconds: 15 } },
    ],
  });
  const ignored = /^299 - "not stored, does not concern probing: (.*)"$/.exec(
    response.headers.get('warning') ?? '',
  )?.[1];
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
    'spec.containers[].env[].valueFrom',
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
  const rows: readonly (readonly [what: string, body: object, host: string])[] = [
    ['spec.host', { spec: { host: 'a', readinessProbe: probe }, status: { podIP: '10.0.0.2' } }, 'a'],
    [
      'else status.podIP',
      {
        metadata: { annotations: { 'probelet.dev/host': 'c' } },
        spec: { readinessProbe: probe },
        status: { podIP: '10.0.0.2' },
      },
      '10.0.0.2',
    ],
    [
      'else the annotation',
      { metadata: { annotations: { 'probelet.dev/host': 'c' } }, spec: { readinessProbe: probe } },
      'c',
    ],
  ];
  for (const [what, body, host] of rows)
    test(what, async () => {
      const response = await apiWorld().request('PUT', targetPath('checkout'), { body });
      assert.equal(((await response.json()) as { spec: { host: string } }).spec.host, host);
    });
});

test('a null is read as absent, as Kubernetes does', async () => {
  const body = {
    metadata: { labels: null, creationTimestamp: null },
    spec: { host: 'a', initContainers: null, readinessProbe: { tcpSocket: { port: 80, host: null } } },
    status: null,
  };
  const response = await apiWorld().request('PUT', targetPath('checkout'), { body });
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('warning'), null);
});
