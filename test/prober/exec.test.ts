import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt, FailureClass } from '../../shared/core/spec/types.ts';
import type { ExecOutcome } from '../../shared/exec/exec.ts';
import { localRunner } from '../../shared/exec/local.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { execProber } from '../../shared/prober/exec.ts';
import { execRequest } from '../support/exec-request.ts';

const request = execRequest(['/bin/sh', '-c', 'echo said; exit 0'], 30_000);

const verdict = ({ timings: _, ...rest }: Attempt) => rest;

type Verdict = Omit<Attempt, 'timings'>;
const failed = (output: string, failureClass: FailureClass): Verdict => ({ outcome: 'failure', output, failureClass });
const unknown = (failureClass: FailureClass): Verdict => ({
  outcome: 'unknown',
  output: '',
  error: 'why',
  failureClass,
});
/** As kubelet's CRI client of v1.36.3 said it when it was asked (k8s.io/cri-client, execSync). */
const timedOut = 'command timed out: "/bin/sh -c echo said; exit 0" timed out after 30s';

describe('what an exec probe makes of', () => {
  const table: readonly (readonly [what: string, ran: ExecOutcome, attempt: Verdict])[] = [
    ['exit 0', { kind: 'exited', exitCode: 0, output: 'fine' }, { outcome: 'success', output: 'fine' }],
    ['exit 1', { kind: 'exited', exitCode: 1, output: 'broken' }, failed('broken', 'EXEC_EXIT')],
    ['a time-out', { kind: 'timedOut', output: 'dropped' }, failed(timedOut, 'EXEC_TIMEOUT')],
    ['a command that cannot run', { kind: 'notStarted', message: 'why', isProberError: false }, unknown('EXEC_START')],
    [
      'a machine without processes left',
      { kind: 'notStarted', message: 'why', isProberError: true },
      unknown('PROBER'),
    ],
    ['a command that may not run', { kind: 'denied', message: 'why' }, unknown('POLICY_DENIED')],
  ];
  for (const [what, ran, attempt] of table)
    test(what, async () => {
      const probe = execProber({ run: async () => ran, clock: systemClock });
      assert.deepEqual(verdict(await probe(request)), attempt);
    });
});

test('a command that the machine has no process for is reported to the permit', async () => {
  const codes: string[] = [];
  const permit = {
    closing: () => undefined,
    opened: () => () => undefined,
    refused: (code: string) => codes.push(code),
  };
  const ran: ExecOutcome = { kind: 'notStarted', message: 'why', isProberError: true, code: 'EAGAIN' };
  await execProber({ run: async () => ran, clock: systemClock })(request, permit);
  assert.deepEqual(codes, ['EAGAIN']);
});

test('a command with NUL reaches no runner, where a shell might run another one', async () => {
  const run = () => assert.fail('was run');
  const attempt = await execProber({ run, clock: systemClock })({ ...request, command: ['rm', 'a\0b'] });
  const [error, failureClass] = ['a word of the command contains NUL', 'EXEC_START'];
  assert.deepEqual(verdict(attempt), { outcome: 'unknown', output: '', error, failureClass });
});

test('an exec probe runs a real command', async () => {
  const run = localRunner({ clock: systemClock, allows: () => true });
  const attempt = await execProber({ run, clock: systemClock })(request);
  assert.deepEqual(verdict(attempt), { outcome: 'success', output: 'said\n' });
  assert.ok(attempt.timings.totalMs > 0);
});
