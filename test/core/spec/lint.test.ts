/**
 * The findings of specs, one table: what is written, and the rules with their fields that have something against it.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Finding, lintRules, lintSpec } from '../../../shared/core/spec/lint.ts';
import { toolsOf } from '../../../shared/core/spec/probe-command.ts';
import type { ProbesInput } from '../../../shared/core/spec/spec-input.ts';
import { validateTargetSpec } from '../../../shared/core/spec/validate-target.ts';

function findingsOf(probes: ProbesInput): readonly Finding[] {
  const validated = validateTargetSpec({ host: '10.0.0.1', containers: [{ name: 'app', ...probes }] });
  assert.ok(validated.kind === 'valid', JSON.stringify(validated));
  return lintSpec(validated.spec);
}

const http = (path = '/live', scheme: 'HTTP' | 'HTTPS' = 'HTTP') => ({ httpGet: { path, port: 8080, scheme } });
const exec = (...command: readonly string[]) => ({ exec: { command }, periodSeconds: 60 });
const tcp = { tcpSocket: { port: 5432 } };

type Row = readonly [what: string, probes: ProbesInput, expected: readonly string[]];

const rows: readonly Row[] = [
  ['nothing but defaults', { livenessProbe: http(), readinessProbe: http('/ready') }, []],
  [
    'the same probe twice',
    { livenessProbe: http(), readinessProbe: http() },
    ['liveness-equals-readiness livenessProbe/failureThreshold'],
  ],
  [
    'the same probe twice, liveness earlier',
    { livenessProbe: { ...http(), periodSeconds: 5 }, readinessProbe: http() },
    ['liveness-equals-readiness livenessProbe/failureThreshold'],
  ],
  ['a larger threshold', { livenessProbe: { ...http(), failureThreshold: 6 }, readinessProbe: http() }, []],
  ['a longer period', { livenessProbe: { ...http(), periodSeconds: 20 }, readinessProbe: http() }, []],
  ['another path', { livenessProbe: http('/a'), readinessProbe: http('/b') }, []],
  [
    'time-outs above the period',
    { readinessProbe: { ...tcp, timeoutSeconds: 11 }, startupProbe: { ...tcp, periodSeconds: 2, timeoutSeconds: 3 } },
    ['timeout-above-period startupProbe/timeoutSeconds', 'timeout-above-period readinessProbe/timeoutSeconds'],
  ],
  ['a time-out of the period', { readinessProbe: { ...tcp, timeoutSeconds: 10 } }, []],
  [
    'a long delay',
    { livenessProbe: { ...tcp, initialDelaySeconds: 30 } },
    ['initial-delay-for-startup livenessProbe/initialDelaySeconds'],
  ],
  ['a short delay', { livenessProbe: { ...tcp, initialDelaySeconds: 29 } }, []],
  ['a long delay of readiness', { readinessProbe: { ...tcp, initialDelaySeconds: 90 } }, []],
  [
    'a long delay beside a startup probe',
    { livenessProbe: { ...tcp, initialDelaySeconds: 90 }, startupProbe: tcp },
    [],
  ],
  ...['/health/db', '/ready', '/Readyz/', '/health/ready?full=1', '/check-redis', '/app/actuator/health'].map(
    (path): Row => [
      `liveness of ${path}`,
      { livenessProbe: http(path) },
      ['liveness-on-dependency livenessProbe/httpGet/path'],
    ],
  ),
  ...['/', '/healthz', '/db/live', '/already', '/live?ready=1', '/actuator/health/liveness'].map(
    (path): Row => [`liveness of ${path}`, { livenessProbe: http(path) }, []],
  ),
  ['readiness of a dependency', { readinessProbe: http('/health/db') }, []],
  ...(['startupProbe', 'readinessProbe', 'livenessProbe'] as const).map(
    (field): Row => [
      `one failure of a ${field} within 1 s`,
      { [field]: { ...tcp, failureThreshold: 1 } },
      [`no-failure-headroom ${field}/failureThreshold`],
    ],
  ),
  ['one failure within 2 s', { readinessProbe: { ...tcp, failureThreshold: 1, timeoutSeconds: 2 } }, []],
  [
    'a command that asks by HTTP',
    { readinessProbe: exec('/usr/bin/curl', '-f', 'http://localhost:8080/') },
    ['exec-instead-of-handler readinessProbe/exec/command'],
  ],
  [
    'a script that asks by HTTP',
    { livenessProbe: exec('sh', '-c', 'test "$(wget -qO- http://localhost/)" = ok') },
    ['exec-instead-of-handler livenessProbe/exec/command'],
  ],
  ['a command of another kind', { livenessProbe: exec('pg_isready', '-h', 'curl') }, []],
  [
    'HTTPS each second',
    { readinessProbe: { ...http('/', 'HTTPS'), periodSeconds: 1 } },
    ['period-beyond-plan readinessProbe/periodSeconds'],
  ],
  ['HTTP each second', { readinessProbe: { ...http('/'), periodSeconds: 1 } }, []],
  [
    'a command each 9 s',
    { livenessProbe: { ...exec('true'), periodSeconds: 9 } },
    ['period-beyond-plan livenessProbe/periodSeconds'],
  ],
  ['a command each 10 s', { livenessProbe: { ...exec('true'), periodSeconds: 10 } }, []],
  ['a command each second, until it has started', { startupProbe: { ...exec('true'), periodSeconds: 1 } }, []],
  ['45 s', { livenessProbe: { ...tcp, periodSeconds: 45 } }, ['period-beyond-plan livenessProbe/periodSeconds']],
  ['30 s', { livenessProbe: { ...tcp, periodSeconds: 30 } }, []],
  ['60 s', { livenessProbe: { ...tcp, periodSeconds: 60 } }, []],
];

describe('lint', () => {
  for (const [what, probes, expected] of rows)
    test(`${expected.length === 0 ? 'has nothing against' : 'finds'} ${what}`, () => {
      const found = findingsOf(probes).map(
        ({ rule, pointer }) => `${rule} ${pointer.replace('/spec/containers/0/', '')}`,
      );
      assert.deepEqual(found, expected);
    });

  test('has a row in the table for each rule', () => {
    const found = new Set(rows.flatMap(([, , expected]) => expected.map((each) => each.split(' ')[0])));
    assert.deepEqual([...found].sort(), Object.keys(lintRules).sort());
  });

  test('says reason and mend in ASCII, which a header carries', () => {
    for (const { reason, mend } of rows.flatMap(([, probes]) => findingsOf(probes)))
      assert.match(`${reason}; ${mend}`, /^[\x20-\x7e]+$/);
  });
});

test('the tools of a command are those that it runs, not its other words', () => {
  const rows = [
    [['curl', 'http://wget/'], 'curl'],
    [['/bin/sh', '-c', '/opt/bin/wget -q x || nc -z localhost 80'], 'wget nc'],
    [['bash', '-ec', 'true;curl x'], 'curl'],
    [['echo', 'curl'], ''],
    [['grpc_health_probe', '-addr=:9090'], 'grpc_health_probe'],
    [['constructor'], ''],
    [[], ''],
  ] as const;
  for (const [command, expected] of rows)
    assert.equal(
      toolsOf(command)
        .map(({ name }) => name)
        .join(' '),
      expected,
    );
});

test('a finding points at the probe of the container that has it, also of an init container', () => {
  const side = { name: 'side', restartPolicy: 'Always', livenessProbe: http(), readinessProbe: http() } as const;
  const validated = validateTargetSpec({
    host: '10.0.0.1',
    containers: [{ name: 'app' }, { name: 'other', livenessProbe: http('/x'), readinessProbe: http('/x') }],
    initContainers: [{ name: 'first' }, side],
  });
  assert.ok(validated.kind === 'valid', JSON.stringify(validated));
  assert.deepEqual(
    lintSpec(validated.spec).map(({ pointer }) => pointer),
    ['/spec/containers/1/livenessProbe/failureThreshold', '/spec/initContainers/1/livenessProbe/failureThreshold'],
  );
});
