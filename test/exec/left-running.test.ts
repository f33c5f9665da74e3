/**
 * Every way in which a command can leave a process behind, and every way in which the probe can end. Processes are
 * found by their command line.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { localProbing } from '../../functions/local/process/probing.ts';
import type { ExecOutcome } from '../../shared/exec/exec.ts';
import { localRunner } from '../../shared/exec/local.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { execRequest } from '../support/exec-request.ts';
import { recordingLog } from '../support/recording-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

const patientMs = 3_000;
const runner = localRunner({ clock: systemClock, allows: () => true });
const shell = (script: string, timeoutMs = patientMs): Promise<ExecOutcome> =>
  runner(execRequest(['/bin/sh', '-c', script], timeoutMs));

/** The time that a process sleeps identifies it. */
let lastSeconds = 700_000 + process.pid;
function nextSeconds(): string {
  lastSeconds += 0.0001;
  return lastSeconds.toFixed(4);
}

/** Living processes with this word in their command line; zombies have none. */
function processesWith(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(word))
    .map(Number);
}

function commandLine(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/** SIGKILL is delivered in the kernel's own time. */
async function gone(word: string): Promise<void> {
  const deadlineMs = performance.now() + patientMs;
  for (let left = processesWith(word); left.length > 0; left = processesWith(word)) {
    if (performance.now() > deadlineMs) {
      for (const pid of left) process.kill(pid, 'SIGKILL');
      assert.fail(`process ${left.join(', ')} lives on`);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function thereAre(count: number, word: string): Promise<void> {
  const deadlineMs = performance.now() + patientMs;
  while (processesWith(word).length < count) {
    assert.ok(performance.now() < deadlineMs, `no ${count} processes ${word}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const silently = '</dev/null >/dev/null 2>&1';
/** `started` and `seconds` are put in: a file that says that the process is there, and how long it would sleep. */
const ways: Readonly<Record<string, string>> = {
  'in the background': `sleep SECONDS ${silently} & touch STARTED`,
  'in the background, with the output': 'sleep SECONDS & touch STARTED',
  'in a process group of its own': `set -m; sleep SECONDS ${silently} & touch STARTED`,
  'with nohup': `nohup sleep SECONDS ${silently} & touch STARTED`,
  'in a session of its own': `setsid sh -c 'touch STARTED; exec sleep SECONDS' ${silently} & until [ -e STARTED ]; do :; done`,
  'in a session of its own, with the output': `setsid sh -c 'touch STARTED; exec sleep SECONDS' & until [ -e STARTED ]; do :; done`,
  'as a daemon': `(setsid sh -c 'sleep SECONDS & touch STARTED' ${silently} &) ; until [ -e STARTED ]; do :; done`,
  'as the daemon of a daemon': `(setsid sh -c '(setsid sh -c "sleep SECONDS & touch STARTED" &)' ${silently} &) ; until [ -e STARTED ]; do :; done`,
  'in a session of its own, deaf to signals': `setsid sh -c 'trap "" TERM INT HUP; touch STARTED; sleep SECONDS; sleep SECONDS' ${silently} & until [ -e STARTED ]; do :; done`,
};
const wayOf = (way: string, seconds: string) =>
  way.replaceAll('STARTED', join(folder, seconds)).replaceAll('SECONDS', seconds);

describe('what a command leaves running ends with it', { concurrency: 9 }, () => {
  for (const [name, way] of Object.entries(ways))
    for (const [end, more, timeoutMs, kind] of [
      ['succeeds', 'exit 0', patientMs, 'exited'],
      ['is killed', 'kill -KILL $$', patientMs, 'exited'],
      ['times out', 'while :; do sleep 1; done', 300, 'timedOut'],
    ] as const)
      test(`${name}, when it ${end}`, async () => {
        const seconds = nextSeconds();
        const outcome = await shell(`${wayOf(way, seconds)}\n${more}`, timeoutMs);
        assert.equal(outcome.kind, kind);
        await gone(seconds);
      });

  test('with an empty environment, as long as the command is there to be seen as its parent', async () => {
    const seconds = nextSeconds();
    const outcome = await shell(`env -i setsid /bin/sleep ${seconds} ${silently} & wait`, 300);
    assert.equal(outcome.kind, 'timedOut');
    await gone(seconds);
  });
});

test('what other probes and other processes run continues', async () => {
  const [other, neighbour] = [nextSeconds(), nextSeconds()];
  const stranger = spawn('sleep', [other], { detached: true, stdio: 'ignore' });
  const running = shell(`setsid sleep ${neighbour} ${silently} & touch ${join(folder, neighbour)}; wait; exit 7`);
  await thereAre(1, neighbour);
  const left = nextSeconds();
  assert.equal((await shell(`sleep 2 & ${wayOf(ways['as a daemon'] ?? '', left)}`, 250)).kind, 'exited');
  await gone(left);
  assert.equal(processesWith(other).length, 1);
  const [pid = 0] = processesWith(neighbour);
  process.kill(pid, 'SIGKILL');
  stranger.kill('SIGKILL');
  assert.deepEqual(await running, { kind: 'exited', exitCode: 7, output: '' });
});

test('what runs when the prober is closed ends before it returns', async () => {
  const probing = localProbing({ clock: systemClock, log: recordingLog(), allowExec: () => true });
  const run = probing.forRun();
  const seconds = nextSeconds();
  const script = `${wayOf(ways['as a daemon'] ?? '', seconds)}; sleep ${seconds}`;
  const probed = run.probers.exec(execRequest(['/bin/sh', '-c', script], patientMs));
  await thereAre(2, seconds);
  await probing.close();
  await gone(seconds);
  run.abandon();
  await probed;
});

test('a command has three descriptors, whatever the prober has open and was started with', async () => {
  const stdio: ('ignore' | 'inherit' | 'pipe' | number)[] = ['ignore', 'pipe', 'inherit'];
  const held = openSync(import.meta.filename, 'r');
  for (let descriptor = stdio.length; descriptor < 252; descriptor += 1) stdio.push('ignore');
  for (const descriptor of [7, 39, 251]) stdio[descriptor] = held;
  const child = spawn(process.execPath, [join(import.meta.dirname, 'descriptors.ts')], { stdio });
  closeSync(held);
  assert.ok(child.stdout);
  assert.equal(await text(child.stdout), '0\n1\n2\n');
});
