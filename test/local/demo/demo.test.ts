/**
 * `npm run demo` as it runs: what it shows, in which order, how long it takes, and that it leaves no process behind.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { before, describe, test } from 'node:test';

const demo = new URL('../../../functions/local/demo/demo.ts', import.meta.url).pathname;
/** As the README says. */
const demoSecondsMax = 30;

type Played = { readonly code: number | null; readonly lines: readonly string[] };

async function play(): Promise<Played> {
  const child = spawn(process.execPath, [demo], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, lines: output.split('\n') };
}

const scenes: readonly (readonly [what: string, lines: readonly RegExp[]])[] = [
  [
    'a startup gate',
    [
      /you +register worker$/,
      /worker +Container Unhealthy: Startup probe failed: HTTP probe failed with statuscode: 503$/,
      /worker +Probe Result Changed: startup success$/,
      /worker +Target Status Changed: .* Ready=True, main: started=true ready=true restarts=0$/,
    ],
  ],
  [
    'a readiness flip',
    [
      /world +shop loses its database$/,
      /shop +Probe Result Changed: readiness success -> failure \(HTTP probe failed with statuscode: 503\)$/,
      /shop +Target Status Changed: .* Ready=False,/,
      /world +shop has its database back$/,
      /shop +Probe Result Changed: readiness failure -> success$/,
      /shop +Target Status Changed: .* Ready=True,/,
    ],
  ],
  [
    'a liveness failure, the request, the reported restart with its gate closed, and the recovery',
    [
      /world +worker hangs$/,
      /worker +Probe Result Changed: liveness success -> failure \(.*deadline exceeded/,
      /worker +Container Restart Requested: attempt 1, Container main failed liveness probe, restart requested$/,
      /you +run worker as process \d+, and report the restart$/,
      /worker +Target Status Changed: .* Ready=Unknown, main: started=false ready=false restarts=1$/,
      /worker +Probe Result Changed: startup success$/,
      /worker +Container Recovered: Container main passed its liveness probe again$/,
    ],
  ],
  [
    'the history, with both sides of the restart',
    [
      /^GET \/v1\/namespaces\/demo\/targets\/worker\/events$/,
      / RestartRequested +Container main failed liveness probe, restart requested$/,
      / Restarted +Container main was reported as restarted, restart 1$/,
    ],
  ],
];

/** Where each line stands, each looked for below the one before; -1: it is not there. */
function placesOf(lines: readonly string[], wanted: readonly RegExp[]): readonly number[] {
  let from = 0;
  return wanted.map((pattern) => {
    const at = lines.findIndex((line, index) => index >= from && pattern.test(line));
    from = at + 1;
    return at;
  });
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('npm run demo', () => {
  let played: Played;
  before(async () => {
    played = await play();
  });

  test('ends well', () => assert.equal(played.code, 0));

  for (const [what, wanted] of scenes)
    test(`shows ${what}`, () => {
      const places = placesOf(played.lines, wanted);
      const missing = wanted.filter((_, index) => places[index] === -1);
      assert.deepEqual(missing, [], played.lines.join('\n'));
    });

  test(`takes less than ${demoSecondsMax} s`, () => {
    const seconds = played.lines.flatMap((line) => / *([\d.]+) s {2}/.exec(line)?.[1] ?? []).map(Number);
    assert.ok(Math.max(...seconds) < demoSecondsMax);
  });

  test('runs its container as a process, restarts it as another one, and leaves none behind', () => {
    const pids = played.lines.flatMap((line) => /process (\d+)/.exec(line)?.[1] ?? []).map(Number);
    assert.equal(new Set(pids).size, 2);
    assert.deepEqual(pids.filter(isRunning), []);
  });
});
