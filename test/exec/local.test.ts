import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ExecOutcome } from '../../shared/exec/exec.ts';
import { localRunner } from '../../shared/exec/local.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { execRequest } from '../support/exec-request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

const patientMs = 30_000;
const runner = localRunner({ clock: systemClock, allows: () => true });

const run = (command: readonly string[], timeoutMs = patientMs): Promise<ExecOutcome> =>
  runner(execRequest(command, timeoutMs));

const shell = (script: string, timeoutMs?: number) => run(['/bin/sh', '-c', script], timeoutMs);

/** Zombies count as dead: init may take its time to reap an orphan. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return state(pid) !== 'Z';
}

function state(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
  } catch {
    return '';
  }
}

/** SIGKILL is delivered in the kernel's own time. */
async function dead(pid: number): Promise<void> {
  const deadlineMs = performance.now() + patientMs;
  while (isAlive(pid)) {
    assert.ok(performance.now() < deadlineMs, `process ${pid} lives on`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const readPid = (name: string): number => Number(readFileSync(join(folder, name), 'utf8'));

describe('a command that ends', () => {
  test('has its exit code and what it wrote to both streams', async () => {
    const outcome = await shell('echo out; echo err >&2; exit 3');
    assert.deepEqual(outcome, { kind: 'exited', exitCode: 3, output: 'out\nerr\n' });
  });
  for (const [what, script, output] of [
    ['that wrote to standard error first', 'echo err >&2; echo out', 'out\nerr\n'],
    ['that wrote to both in turn', 'echo a; echo b >&2; echo c; echo d >&2', 'a\nc\nb\nd\n'],
    ['that wrote to standard error alone', 'echo err >&2', 'err\n'],
  ] as const)
    test(`${what} has its standard output before its standard error`, async () =>
      assert.deepEqual(await shell(script), { kind: 'exited', exitCode: 0, output }));
  test('that fills standard output has none of its standard error, whichever came first', async () => {
    const outcome = await shell('echo err >&2; head -c 20000 /dev/zero');
    assert.ok(outcome.kind === 'exited');
    assert.equal(outcome.output, '\0'.repeat(10_240));
  });
  test('by a signal has the exit code that a shell shows', async () =>
    assert.deepEqual(await shell('kill -TERM $$'), { kind: 'exited', exitCode: 143, output: '' }));
  test('gets its arguments as they are, without a shell', async () => {
    const outcome = await run(['/bin/echo', '$HOME', '*', 'a  b', '; exit 1']);
    assert.deepEqual(outcome, { kind: 'exited', exitCode: 0, output: '$HOME * a  b ; exit 1\n' });
  });
  test('sees nothing of the environment, an empty input, and the root folder', async () => {
    process.env.PROBELET_SECRET = 'secret';
    const outcome = await shell('cat; pwd; env');
    assert.ok(outcome.kind === 'exited');
    assert.match(outcome.output, /^\/\n/);
    assert.match(outcome.output, /^PATH=/m);
    assert.doesNotMatch(outcome.output, /secret|HOME=/i);
  });
  test('has its output cut at 10 KiB, and ends all the same', async () => {
    const outcome = await shell('head -c 3000000 /dev/zero; exit 4');
    assert.ok(outcome.kind === 'exited');
    assert.deepEqual([outcome.exitCode, outcome.output.length], [4, 10_240]);
  });
});

describe('a command that does not end', () => {
  test('times out', async () =>
    assert.deepEqual(await shell('echo before; exec sleep 600', 1000), { kind: 'timedOut', output: 'before\n' }));
  test('is killed with its grandchildren, though they ignore SIGTERM', async () => {
    const script = `trap '' TERM; sh -c 'echo $$ > ${folder}/grandchild; trap "" TERM; while :; do sleep 1; done' & echo $$ > ${folder}/child; wait`;
    const outcome = await shell(script, 2000);
    assert.equal(outcome.kind, 'timedOut');
    await dead(readPid('child'));
    await dead(readPid('grandchild'));
    assert.equal(state(readPid('child')), '', 'the child was left a zombie');
  });
  test('and writes without end is read without end, in bounded memory', async () => {
    const beforeBytes = process.memoryUsage().rss;
    const outcome = await run(
      ['/bin/sh', '-c', 'while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done'],
      500,
    );
    assert.ok(outcome.kind === 'timedOut');
    assert.equal(outcome.output.length, 10_240);
    const endless = await run(['cat', '/dev/zero'], 500);
    assert.ok(endless.kind === 'timedOut');
    const grownBytes = process.memoryUsage().rss - beforeBytes;
    assert.ok(grownBytes < 100_000_000, `grew by ${grownBytes}`);
  });
});

describe('a command that leaves something running', () => {
  test('that holds its output ends without it, and takes it along', async () => {
    const outcome = await shell(`sleep 600 & echo $! > ${folder}/left; exit 0`);
    assert.deepEqual(outcome, { kind: 'exited', exitCode: 0, output: '' });
    await dead(readPid('left'));
  });
});

describe('a command that cannot run', () => {
  const table: readonly (readonly [command: readonly string[], message: string])[] = [
    [['/nonexistent/program'], 'exec: "/nonexistent/program": no such file or directory'],
    [['nonexistent-program'], 'exec: "nonexistent-program": executable file not found in $PATH'],
    [['/etc/passwd'], 'exec: "/etc/passwd": permission denied'],
  ];
  for (const [command, message] of table)
    test(message, async () =>
      assert.deepEqual(await run(command), { kind: 'notStarted', message, isProberError: false }),
    );
  test('because of a NUL byte', async () => {
    const outcome = await run(['/bin/echo', 'a\0b']);
    assert.equal(outcome.kind, 'notStarted');
  });
  test('because it is too long', async () => {
    const outcome = await run(['/bin/echo', 'x'.repeat(3_000_000)]);
    assert.deepEqual(outcome, {
      kind: 'notStarted',
      message: 'exec: "/bin/echo": argument list too long',
      isProberError: false,
    });
  });
  test('because it is empty', async () => assert.equal((await run([])).kind, 'notStarted'));
});

describe('a command that may not run', () => {
  const request = execRequest(['/bin/echo', 'a "b"'], patientMs);
  test('is denied when exec is off', async () => {
    const outcome = await localRunner({ clock: systemClock })(request);
    assert.deepEqual(outcome, { kind: 'denied', message: 'exec probes are off: no --allow-exec file was given' });
  });
  test('is denied when it is not in the list', async () => {
    const outcome = await localRunner({ clock: systemClock, allows: () => false })(request);
    const message = 'command "/bin/echo a \\"b\\"" is not in the --allow-exec file';
    assert.deepEqual(outcome, { kind: 'denied', message });
  });
});

test('many at once leave no child behind', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, (_, index) => (index % 3 === 0 ? shell('exec sleep 600', 100) : shell('exit 0'))),
  );
  const kinds = Map.groupBy(outcomes, ({ kind }) => kind);
  assert.deepEqual([kinds.get('timedOut')?.length, kinds.get('exited')?.length], [10, 20]);
});
