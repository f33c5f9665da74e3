/** `probelet simulate`: kubelet's thresholds on a row of findings, as text and JSON, and its wrong uses. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cliFiles } from './files.ts';

const { fileOf, ran } = cliFiles('simulate');

/** Of each step what was found, the run, and the result. */
async function stepsOf(...args: readonly string[]): Promise<readonly string[]> {
  const { code, out } = await ran(...args);
  assert.equal(code, 0);
  const [, , ...rows] = out.trimEnd().split('\n');
  return rows.map((row) => row.split(/ {3,}/).slice(2).join(' '));
}

describe('simulate', () => {
  test('prints a table a probe', async () => {
    const { code, out, err } = await ran('S', 'F', 'F', 'F', 'S');
    assert.deepEqual([code, err], [0, []]);
    assert.equal(
      out,
      `readiness probe: every 10 s, first made between 0 s and 10 s after the start of its container
PROBE   TIME   FINDING   RUN   RESULT    EFFECT
1       +0s    success   1/1   success   the container is ready
2       +10s   failure   1/3   success
3       +20s   failure   2/3   success
4       +30s   failure   3/3   failure   the container is not ready
5       +40s   success   1/1   success   the container is ready
`,
    );
  });

  test('has no result before a verdict, and counts no error', async () => {
    assert.deepEqual(await stepsOf('FEFsf', '--failure-threshold', '2', '--success-threshold', '2'), [
      'failure 1/2 unknown',
      'error - unknown changes nothing; the second in a row is shown as unknown',
      'failure 2/2 failure the container is not ready',
      'success 1/2 failure',
      'failure 1/2 failure',
    ]);
  });

  test('of a liveness probe goes on while nothing restarts the container, else waits for the next one', async () => {
    const liveness = ['--probe', 'liveness', '--failure-threshold', '1'];
    assert.deepEqual(await stepsOf(...liveness, 'S2F'), [
      'success 1/1 success the container is alive',
      'failure 1/1 failure a restart is requested',
      'failure 1/1 failure',
    ]);
    assert.deepEqual(await stepsOf(...liveness, '--lifecycle', 'reported', 'FS'), [
      'failure 1/1 failure a restart is requested',
      'not made - failure waits for the next container',
    ]);
  });

  test('takes the probes of files', async () => {
    const file = fileOf(
      'two.yaml',
      `metadata: { name: web }
spec:
  livenessProbe: { tcpSocket: { port: 1 }, periodSeconds: 2, initialDelaySeconds: 3 }
  readinessProbe: { tcpSocket: { port: 1 }, failureThreshold: 1 }
`,
    );
    const { out } = await ran('-f', file, 'F');
    assert.deepEqual(
      out.split('\n').filter((line) => line.includes(' probe of ')),
      [
        'readiness probe of default/web, container main: every 10 s, first made between 0 s and 10 s after the start of its container',
        'liveness probe of default/web, container main: every 2 s, first made between 3 s and 5 s after the start of its container',
      ],
    );
    const [first] = JSON.parse((await ran('-f', file, 'F', '-o', 'json')).out);
    assert.deepEqual(first.steps, [
      { afterMs: 0, finding: 'failure', run: 1, threshold: 1, result: 'failure', isNew: true },
    ]);
  });

  test('says how it is used', async () => {
    const probeless = fileOf('none.yaml', 'metadata: { name: web }\nspec: { containers: [{ name: a }] }\n');
    for (const [args, expectedCode, expected] of [
      [[], 2, /give findings, such as S F F F, or a target by --target\. See/],
      [['X'], 2, /must be S, F or E, such as S F F F or S3F\. See 'probelet simulate --help'/],
      [['0S'], 2, /must be S, F or E/],
      [['1001S'], 2, /has more than 1000 findings/],
      [['--period', '0', 'S'], 2, /must be a whole number from 1 to/],
      [['-f', probeless, 'S'], 1, /No file has a probe/],
    ] as const) {
      const { code, out, err } = await ran(...args);
      assert.deepEqual([code, out], [expectedCode, '']);
      assert.match(err.at(-1) ?? '', expected);
    }
  });
});
