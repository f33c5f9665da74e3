import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ContainerInput, ProbeInput, TargetSpecInput } from '../../../shared/core/spec/spec-input.ts';
import { probeItemsProblems, validateTargetSpec } from '../../../shared/core/spec/validate-target.ts';
import { column } from '../../support/columns.ts';

const tcp: ProbeInput = { tcpSocket: { port: 80 } };
const container = (fields: Partial<ContainerInput>): TargetSpecInput => ({
  host: '10.0.0.7',
  containers: [{ name: 'app', ...fields }],
});
const readiness = (probe: ProbeInput): TargetSpecInput => container({ readinessProbe: probe });
const httpGet = (fields: object): TargetSpecInput => readiness({ httpGet: { port: 80, ...fields } });
const header = (name: string, value: string): TargetSpecInput => httpGet({ httpHeaders: [{ name, value }] });
const many = <Item>(count: number, item: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => item(index));

const spec = (fields: TargetSpecInput): TargetSpecInput => ({ ...container({}), ...fields });
const live = (probe: ProbeInput): TargetSpecInput => container({ livenessProbe: { ...tcp, ...probe } });
const init = (fields: Partial<ContainerInput>): TargetSpecInput =>
  spec({ initContainers: [{ name: 'side', ...fields }] });
const port = (name: string, containerPort = 80) => ({ name, containerPort });
const rule = (values: readonly number[]) => [{ action: 'Restart', operator: 'In', values } as const];

const pointers = (input: TargetSpecInput): readonly string[] => {
  const validated = validateTargetSpec(input);
  return validated.kind === 'valid' ? [] : validated.problems.map(({ pointer }) => pointer);
};

const at = '/spec/containers/0';
const probeAt = `${at}/readinessProbe`;
const liveAt = `${at}/livenessProbe`;
const headerAt = `${probeAt}/httpGet/httpHeaders/0`;

const refused: readonly (readonly [name: string, spec: TargetSpecInput, ...pointers: string[]])[] = [
  ['no container', { host: 'x' }, '/spec/containers'],
  ['no host though a probe needs it', { containers: [{ name: 'app', readinessProbe: tcp }] }, '/spec/host'],
  ['no host for gRPC', { containers: [{ name: 'app', livenessProbe: { grpc: { port: 1 } } }] }, '/spec/host'],
  ['a host in brackets', { host: '[::1]', containers: [{ name: 'app' }] }, '/spec/host'],
  ['a host with a port', { host: 'x:80', containers: [{ name: 'app' }] }, '/spec/host'],
  ['a grace period over a day', spec({ terminationGracePeriodSeconds: 86_401 }), '/spec/terminationGracePeriodSeconds'],
  ['an unqualified gate', spec({ readinessGates: [{ conditionType: 'a b' }] }), '/spec/readinessGates/0/conditionType'],
  ['the short form beside containers', spec({ readinessProbe: tcp }), '/spec/readinessProbe'],
  ['a container name with capitals', container({ name: 'App' }), `${at}/name`],
  ['a container name of 64 characters', container({ name: 'a'.repeat(64) }), `${at}/name`],
  ['a name used by an ordinary and an init container', init({ name: 'app' }), '/spec/initContainers/0/name'],
  ['21 containers', { host: 'x', containers: many(21, (i) => ({ name: `c${i}` })) }, '/spec/containers'],
  ['a probe of an ordinary init container', init({ startupProbe: tcp }), '/spec/initContainers/0/startupProbe'],
  ['a port of 0', container({ ports: [{ containerPort: 0 }] }), `${at}/ports/0/containerPort`],
  ['a port name without a letter', container({ ports: [port('80')] }), `${at}/ports/0/name`],
  ['a port name used twice', container({ ports: many(2, (i) => port('web', 80 + i)) }), `${at}/ports/1/name`],
  ['a variable with =', container({ env: [{ name: 'A=B' }] }), `${at}/env/0/name`],
  ['a variable that is not ASCII', container({ env: [{ name: 'é' }] }), `${at}/env/0/name`],
  ['a variable without a name', container({ env: [{ name: '' }] }), `${at}/env/0/name`],
  ['rules without an own policy', container({ restartPolicyRules: rule([1]) }), `${at}/restartPolicyRules`],
  [
    'a rule with an exit code beyond 32 bits',
    container({ restartPolicy: 'Never', restartPolicyRules: rule([2 ** 31]) }),
    `${at}/restartPolicyRules/0/values/0`,
  ],
  ['no handler', readiness({}), probeAt],
  ['two handlers', readiness({ ...tcp, grpc: { port: 1 } }), `${probeAt}/grpc`],
  ['an empty command', readiness({ exec: { command: [] } }), `${probeAt}/exec/command`],
  ['a port out of range', readiness({ tcpSocket: { port: 65_536 } }), `${probeAt}/tcpSocket/port`],
  ['a port name with capitals', readiness({ tcpSocket: { port: 'Web' } }), `${probeAt}/tcpSocket/port`],
  ['a port as digits', readiness({ tcpSocket: { port: '80' } }), `${probeAt}/tcpSocket/port`],
  ['a gRPC port of 0', readiness({ grpc: { port: 0 } }), `${probeAt}/grpc/port`],
  ['a negative period', readiness({ ...tcp, periodSeconds: -1 }), `${probeAt}/periodSeconds`],
  ['a period over an hour', readiness({ ...tcp, periodSeconds: 3_601 }), `${probeAt}/periodSeconds`],
  ['a period that is no whole number', readiness({ ...tcp, periodSeconds: 1.5 }), `${probeAt}/periodSeconds`],
  ['a time-out over a minute', readiness({ ...tcp, timeoutSeconds: 61 }), `${probeAt}/timeoutSeconds`],
  ['a negative initial delay', readiness({ ...tcp, initialDelaySeconds: -1 }), `${probeAt}/initialDelaySeconds`],
  ['a failure threshold of 10,001', readiness({ ...tcp, failureThreshold: 10_001 }), `${probeAt}/failureThreshold`],
  ['a negative success threshold', readiness({ ...tcp, successThreshold: -1 }), `${probeAt}/successThreshold`],
  ['a liveness success threshold of 2', live({ successThreshold: 2 }), `${liveAt}/successThreshold`],
  [
    'a startup success threshold of 2',
    container({ startupProbe: { ...tcp, successThreshold: 2 } }),
    `${at}/startupProbe/successThreshold`,
  ],
  [
    'a grace period of a readiness probe',
    readiness({ ...tcp, terminationGracePeriodSeconds: 1 }),
    `${probeAt}/terminationGracePeriodSeconds`,
  ],
  ['a grace period of 0', live({ terminationGracePeriodSeconds: 0 }), `${liveAt}/terminationGracePeriodSeconds`],
  ['a path of 2,049 characters', httpGet({ path: `/${'a'.repeat(2_048)}` }), `${probeAt}/httpGet/path`],
  ['a line break in a path', httpGet({ path: '/a\r\nb' }), `${probeAt}/httpGet/path`],
  ['user info in a path', httpGet({ path: '//user:secret@host/x' }), `${probeAt}/httpGet/path`],
  ['user info in a whole URL', httpGet({ path: 'http://user@host/x' }), `${probeAt}/httpGet/path`],
  ['a handler’s host of 254 characters', httpGet({ host: 'a'.repeat(254) }), `${probeAt}/httpGet/host`],
  [
    '21 headers',
    httpGet({ httpHeaders: many(21, () => ({ name: 'X', value: '' })) }),
    `${probeAt}/httpGet/httpHeaders`,
  ],
  ['a header of more than 1 KiB', header('X', 'é'.repeat(512)), headerAt],
  ['a header name with a space', header('a b', ''), `${headerAt}/name`],
  ['a header name with an underscore', header('X_Y', ''), `${headerAt}/name`],
  ['a hop-by-hop header', header('connection', 'close'), `${headerAt}/name`],
  ['a proxy header', header('Proxy-Authorization', 'env:A'), `${headerAt}/name`],
  ['a length header', header('Content-Length', '1'), `${headerAt}/name`],
  ['a literal Authorization', header('authorization', 'Bearer x'), `${headerAt}/value`],
  ['a literal Cookie', header('Cookie', 'a=b'), `${headerAt}/value`],
  ['a literal X-Api-Key', header('X-API-Key', 'env:not a name'), `${headerAt}/value`],
  [
    'the short form’s own field',
    { host: 'x', livenessProbe: { ...tcp, periodSeconds: -1 } },
    '/spec/livenessProbe/periodSeconds',
  ],
  [
    'no host where every handler has its own',
    { containers: [{ name: 'a', readinessProbe: { tcpSocket: { host: 'x', port: 1 } } }] },
    '/spec/host',
  ],
  ['no host for exec', { containers: [{ name: 'a', livenessProbe: { exec: { command: ['true'] } } }] }, '/spec/host'],
  ['several fields at once', { host: 'a b', livenessProbe: {} }, '/spec/host', '/spec/livenessProbe'],
];

const accepted: readonly (readonly [name: string, spec: TargetSpecInput])[] = [
  ['a container without probes', container({})],
  ['an IPv6 host', { host: 'fd00::1', containers: [{ name: 'a' }] }],
  ['a host name with an underscore', { host: 'my_service.local.', containers: [{ name: 'a' }] }],
  ['a named port', container({ ports: [port('web')], readinessProbe: { tcpSocket: { port: 'web' } } })],
  [
    'the bounds',
    readiness({ ...tcp, periodSeconds: 3_600, timeoutSeconds: 60, failureThreshold: 10_000, successThreshold: 10_000 }),
  ],
  ['a port name that no container port has', readiness({ tcpSocket: { port: 'web' } })],
  ['a variable used twice', container({ env: many(2, () => ({ name: 'A', value: '' })) })],
  ['a variable of printable ASCII', container({ env: [{ name: '1 {a}/$b?' }] })],
  ['a command of an empty word', readiness({ exec: { command: [''] } })],
  ['NUL in a command', readiness({ exec: { command: ['a', 'b\0'] } })],
  ['a handler’s host that is none', httpGet({ host: '[::1]' })],
  ['a path that is opaque', httpGet({ path: 'mailto:x' })],
  ['control characters in a header', header('X', 'a\r\nY: b\0')],
  ['a rule without exit codes', container({ restartPolicy: 'Never', restartPolicyRules: rule([]) })],
  ['a path with a query', httpGet({ path: 'ready?full=1' })],
  ['a path that no URL parser takes', httpGet({ path: '/%zz' })],
  ['a reference to a secret', header('Authorization', 'ssm:/checkout/token')],
  ['a reference to the environment', header('Cookie', 'env:SESSION')],
  ['20 containers, some of them init', spec({ initContainers: many(19, (i) => ({ name: `i${i}` })) })],
  ['a probe of a sidecar', init({ restartPolicy: 'Always', startupProbe: tcp })],
];

describe('a spec is refused for', () => {
  for (const [name, spec, ...expected] of refused) test(name, () => assert.deepEqual(pointers(spec), expected));
});

describe('a spec is accepted with', () => {
  for (const [name, spec] of accepted) test(name, () => assert.deepEqual(pointers(spec), []));
});

describe('the defaults', () => {
  test('are Kubernetes’', () => {
    assert.deepEqual(validateTargetSpec(httpGet({})), {
      kind: 'valid',
      spec: {
        host: '10.0.0.7',
        restartPolicy: 'Always',
        lifecycle: 'static',
        terminationGracePeriodSeconds: 30,
        readinessGates: [],
        initContainers: [],
        containers: [
          {
            name: 'app',
            readinessProbe: {
              httpGet: { path: '/', port: 80, scheme: 'HTTP' },
              initialDelaySeconds: 0,
              periodSeconds: 10,
              timeoutSeconds: 1,
              successThreshold: 1,
              failureThreshold: 3,
            },
          },
        ],
      },
    });
  });

  test('stand for zeros, empty texts and absent values', () => {
    const zeros = {
      ...{ periodSeconds: 0, timeoutSeconds: 0, successThreshold: 0, failureThreshold: 0, initialDelaySeconds: 0 },
    };
    const written = container({
      ports: [{ name: '', containerPort: 80 }],
      readinessProbe: { httpGet: { port: 80, path: '', scheme: '', httpHeaders: [{ name: 'X' }] }, ...zeros },
    });
    const absent = container({
      ports: [{ containerPort: 80 }],
      readinessProbe: { httpGet: { port: 80, httpHeaders: [{ name: 'X', value: '' }] } },
    });
    assert.deepEqual(validateTargetSpec({ ...written, restartPolicy: '' }), validateTargetSpec(absent));
  });

  test('take a negative grace period of the target for a second', () => {
    const validated = validateTargetSpec({ ...container({}), terminationGracePeriodSeconds: -100 });
    assert.ok(validated.kind === 'valid');
    assert.equal(validated.spec.terminationGracePeriodSeconds, 1);
  });

  test('change nothing in a spec that has them', () => {
    const first = validateTargetSpec(httpGet({ host: 'x', httpHeaders: [] }));
    assert.ok(first.kind === 'valid');
    assert.deepEqual(validateTargetSpec(first.spec), first);
  });

  test('turn the short form into one container called main', () => {
    const validated = validateTargetSpec({ host: 'x', readinessProbe: tcp, livenessProbe: tcp });
    assert.ok(validated.kind === 'valid');
    assert.deepEqual(column(validated.spec.containers, 'name'), ['main']);
    assert.ok(validated.spec.containers[0]?.readinessProbe && validated.spec.containers[0].livenessProbe);
  });
});

test('probes since removed count against the limit of 87', () => {
  const validated = validateTargetSpec(container({ readinessProbe: tcp }));
  assert.ok(validated.kind === 'valid');
  const removed = many(86, (index) => `gone${index}#liveness`);
  assert.deepEqual(probeItemsProblems(removed, validated.spec), []);
  assert.deepEqual(probeItemsProblems([...removed, 'app#readiness'], validated.spec), []);
  assert.equal(probeItemsProblems([...removed, 'one#more'], validated.spec).length, 1);
});
