/**
 * What stands between Kubernetes' cases and probelet, by what Kubernetes says of Pods and kubelet of their containers.
 * The Pods are those that container_probe.go creates.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { selects } from './api-server.ts';
import { type ContainerSpec, containersOf, isSidecar, type Pod } from './spec.ts';
import { podOf, podStatusOf, type RuntimeState, reportOf, targetOf } from './translation.ts';

const metadata = {
  name: 'startup-sidecar-1',
  namespace: 'container-probe-1',
  uid: '6f1c',
  creationTimestamp: '2026-01-01T00:00:00Z',
  resourceVersion: '7',
};
/** startupSidecarPodSpec of container_probe.go, and one of its probes. */
const sidecar = {
  name: 'sidecar',
  image: 'registry.k8s.io/e2e-test-images/busybox:1.37.0-1',
  command: ['/bin/sh', '-c', 'sleep 600'],
  restartPolicy: 'Always',
  livenessProbe: { exec: { command: ['/bin/true'] }, initialDelaySeconds: 15, failureThreshold: 1 },
  readinessProbe: { httpGet: { path: '/', port: 80 }, initialDelaySeconds: 15 },
  startupProbe: { exec: { command: ['cat', '/tmp/startup'] }, terminationGracePeriodSeconds: 5 },
} satisfies ContainerSpec;
const main = { name: 'main', image: 'registry.k8s.io/e2e-test-images/agnhost:2.63.0', args: ['pause'] };
const pod: Pod = podOf({ metadata, spec: { initContainers: [sidecar], containers: [main] } }, metadata);
const execIn = (container: string) => ['/exec-in', `/pods/6f1c/${container}.pid`];

describe('a Pod', () => {
  test('has the defaults of Kubernetes’ API server', () => {
    assert.equal(pod.spec.restartPolicy, 'Always');
    assert.equal(pod.spec.terminationGracePeriodSeconds, 30);
    const given = podOf({ metadata, spec: { terminationGracePeriodSeconds: 500, containers: [main] } }, metadata);
    assert.equal(given.spec.terminationGracePeriodSeconds, 500);
  });

  test('starts its sidecars before its other containers', () => {
    assert.deepEqual(
      containersOf(pod.spec).map((each) => [each.name, isSidecar(pod.spec, each)]),
      [
        ['sidecar', true],
        ['main', false],
      ],
    );
  });

  test('becomes a target as it is, but for its address, its lifecycle and where its commands run', () => {
    assert.deepEqual(targetOf(pod, { podIP: '10.89.0.2', lifecycle: 'reported', execIn }), {
      kind: 'Pod',
      apiVersion: 'v1',
      metadata: {
        name: 'startup-sidecar-1',
        namespace: 'container-probe-1',
        annotations: { 'probelet.dev/lifecycle': 'reported' },
      },
      spec: {
        restartPolicy: 'Always',
        terminationGracePeriodSeconds: 30,
        initContainers: [
          {
            ...sidecar,
            livenessProbe: {
              ...sidecar.livenessProbe,
              exec: { command: ['/exec-in', '/pods/6f1c/sidecar.pid', '/bin/true'] },
            },
            startupProbe: {
              terminationGracePeriodSeconds: 5,
              exec: { command: ['/exec-in', '/pods/6f1c/sidecar.pid', 'cat', '/tmp/startup'] },
            },
          },
        ],
        containers: [main],
      },
      status: { podIP: '10.89.0.2' },
    });
  });
});

describe('a report', () => {
  const running: RuntimeState = {
    name: 'sidecar',
    containerID: 'containerd://1',
    state: { running: { startedAt: '2026-01-01T00:00:01.250Z' } },
    lastState: {},
    restartCount: 0,
  };
  const waiting: RuntimeState = {
    name: 'main',
    state: { waiting: { reason: 'PodInitializing' } },
    lastState: {},
    restartCount: 0,
  };

  test('has sidecars among the init containers, as the status of a Pod has', () => {
    assert.deepEqual(reportOf(pod.spec, [running, waiting]), {
      status: { initContainerStatuses: [running], containerStatuses: [waiting] },
    });
  });

  test('of a Pod without init containers names none', () => {
    assert.deepEqual(reportOf({ containers: [main] }, [waiting]), { status: { containerStatuses: [waiting] } });
  });
});

test('the status of a Pod is its target’s, with the fields that Kubernetes requires of a container status', () => {
  const status = {
    resourceVersion: '3',
    phase: 'Running',
    startTime: '2026-01-01T00:00:00Z',
    conditions: [{ type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
    initContainerStatuses: [],
    containerStatuses: [{ name: 'main', state: {}, lastState: {}, ready: true, started: true, restartCount: 1 }],
    probes: [],
  } satisfies TargetView['status'];
  const shown = podStatusOf({ status }, pod, '10.89.0.2');
  // Required by the OpenAPI document of v1.ContainerStatus.
  for (const field of ['name', 'ready', 'restartCount', 'image', 'imageID'])
    assert.ok(field in (shown.containerStatuses?.[0] ?? {}), field);
  assert.equal(shown.containerStatuses?.[0]?.image, main.image);
  assert.equal(shown.containerStatuses?.[0]?.restartCount, 1);
  assert.deepEqual([shown.phase, shown.podIP, shown.startTime], ['Running', '10.89.0.2', '2026-01-01T00:00:00Z']);
  assert.deepEqual(shown.conditions, status.conditions);
});

test('a field selector takes objects by all of its terms', () => {
  const event = { reason: 'ProbeWarning', involvedObject: { kind: 'Pod', name: 'one' } };
  assert.ok(selects(undefined, event));
  assert.ok(selects('involvedObject.kind=Pod,involvedObject.name=one,reason=ProbeWarning', event));
  assert.ok(!selects('involvedObject.kind=Pod,reason=Unhealthy', event));
  assert.ok(!selects('involvedObject.uid=7', event));
});
