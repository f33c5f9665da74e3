/** A probe through a Service reaches the port that kubelet would dial, or the resource is left out with a word. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { stringify } from 'yaml';
import { convertFile } from '../../shared/manifest/convert.ts';

type Port = { readonly name: string; readonly containerPort: number; readonly protocol?: string };
type Target = string | number | undefined;

const protocols = [undefined, 'TCP', 'UDP'];
const names = ['http', 'admin'];
const targets: readonly Target[] = ['http', 'admin', '', 0, 8001, 8002, undefined];
const probed = [8001, 8002, 'http', 'admin'];
/** Where the second container stands. */
const places = ['before', 'behind', 'sidecar', 'init'] as const;

/** The choices of each list, in every combination. */
const product = <T extends readonly unknown[]>(...lists: { readonly [K in keyof T]: readonly T[K][] }): readonly T[] =>
  lists.reduce<readonly unknown[][]>(
    (all, list) => all.flatMap((head) => list.map((each) => [...head, each])),
    [[]],
  ) as unknown as readonly T[];

type Case = {
  readonly own: Port;
  readonly other: Port;
  readonly place: (typeof places)[number];
  readonly target: Target;
  readonly port: number | string;
};

const cases = product<
  readonly [string, string | undefined, string, string | undefined, Case['place'], Target, number | string]
>(names, protocols, names, protocols, places, targets, probed).map(
  ([name, protocol, otherName, otherProtocol, place, target, port]): Case => ({
    own: { name, containerPort: 8001, ...(protocol && { protocol }) },
    other: { name: otherName, containerPort: 8002, ...(otherProtocol && { protocol: otherProtocol }) },
    place,
    target,
    port,
  }),
);

const servicePort = 80;

function fileOf({ own, other, place, target, port }: Case): string {
  const container = { name: 'own', ports: [own], readinessProbe: { tcpSocket: { port } } };
  const second = { name: 'other', ports: [other] };
  const init = { ...second, ...(place === 'sidecar' && { restartPolicy: 'Always' }) };
  const spec = {
    containers: place === 'before' ? [second, container] : place === 'behind' ? [container, second] : [container],
    ...((place === 'sidecar' || place === 'init') && { initContainers: [init] }),
  };
  const ports = [{ port: servicePort, ...(target !== undefined && { targetPort: target }) }];
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { a: 'b' }, ports },
  };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', labels: { a: 'b' } }, spec };
  return [service, pod].map((each) => stringify(each)).join('---\n');
}

/** FindPort of Kubernetes: the port of the Pod that the Service leads to. */
function reached({ own, other, place, target }: Case): number | undefined {
  if (typeof target === 'number' && target !== 0) return target;
  if (target === undefined || target === 0 || target === '') return servicePort;
  const inOrder = { before: [other, own], behind: [own, other], sidecar: [own, other], init: [own] }[place];
  return inOrder.find(({ name, protocol = 'TCP' }) => name === target && protocol === 'TCP')?.containerPort;
}

/** What kubelet dials: a port of the probe's own container, whatever its protocol. */
const dialled = ({ own, port }: Case): number | undefined =>
  typeof port === 'number' ? port : own.name === port ? own.containerPort : undefined;

describe('a probe through a Service', () => {
  test('reaches the port that kubelet dials, or is left out', () => {
    let found = 0;
    for (const each of cases) {
      const conversion = convertFile({ name: 'web.yaml', text: fileOf(each) });
      assert.ok(conversion.kind === 'converted', JSON.stringify(conversion));
      const [target] = conversion.targets;
      const shouldFind = dialled(each) !== undefined && dialled(each) === reached(each);
      const what = JSON.stringify({ ...each, notes: conversion.notes });
      assert.equal(target !== undefined, shouldFind, what);
      if (!target) {
        assert.ok(
          conversion.notes.some(({ kind, reason }) => kind === 'leftOut' && reason.includes('no port of')),
          what,
        );
        continue;
      }
      found += 1;
      const own = target.spec.containers.find(({ name }) => name === 'own');
      assert.equal(own?.readinessProbe?.tcpSocket?.port, servicePort, what);
    }
    assert.ok(found > 0 && found < cases.length, String(found));
  });
});
