/** `probelet simulate --target`: what is recorded, what thresholds do with it, and that nothing else is made up. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { EventRecord } from '../../../shared/core/spec/records.ts';
import { encodeEvent } from '../../../shared/store/records/items.ts';
import { targetAddress } from '../../../shared/store/records/keys.ts';
import { startMs } from '../../api/world.ts';
import { servedWorld } from './served.ts';

const { world, run } = await servedWorld();
const path = '/v1/namespaces/default/targets/web';

/** An event at the last of these attempts: `S` or `F` and the seconds after the start. */
function event(uid: string, kind: EventRecord['kind'], attempts: readonly string[], container = 0): EventRecord {
  const tried = attempts.map((text) => ({
    timeMs: startMs + Number(text.slice(1)) * 1_000,
    outcome: text.startsWith('S') ? ('success' as const) : ('failure' as const),
    output: '',
    timings: { totalMs: 1 },
  }));
  const timeMs = tried.at(-1)?.timeMs ?? startMs;
  const result = tried.at(-1)?.outcome ?? 'success';
  return {
    id: `${String(timeMs).padStart(14, '0')}#main#readiness#${kind}`,
    ...{ uid, timeMs, kind, count: 1, attempts: tried },
    ...{ type: 'Normal', reason: kind === 'transition' ? 'ProbeResultChanged' : 'Unhealthy', message: '' },
    ...{ container: 'main', probeType: 'readiness', containerID: `probelet://${uid}/main/${container}` },
    ...(kind === 'transition' && { result }),
  };
}

before(async () => {
  const readinessProbe = { tcpSocket: { port: 80 }, periodSeconds: 10 };
  await world.expect(201, 'PUT', path, { spec: { host: '10.0.0.1', readinessProbe } });
  const { body } = await world.ask<{ readonly metadata: { readonly uid: string } }>('GET', path);
  const { uid } = body.metadata;
  for (const each of [
    event(uid, 'transition', ['S0']),
    event(uid, 'recorded', ['F300']),
    event(uid, 'transition', ['F300', 'F310', 'F320']),
    event(uid, 'transition', ['S330']),
    event(uid, 'recorded', ['F331'], 1),
  ])
    await world.put(encodeEvent(targetAddress('default', 'web'), each));
});

describe('simulate --target', () => {
  test('takes the recorded attempts, and says of the others that they are unknown', async () => {
    const { code, out, err } = await run([
      'simulate',
      '--target',
      'web',
      '--probe',
      'readiness',
      '--failure-threshold',
      '2',
    ]);
    assert.deepEqual([code, err], [0, []]);
    assert.equal(
      out,
      `readiness probe of default/web, container main: failureThreshold 2 instead of 3, successThreshold 1
PROBE   TIME                       FINDING   RUN    RESULT    EFFECT                   PUBLISHED
1       2026-01-01T12:00:00.000Z   success   1/1    success   known from here on       success
        about 29 unknown                            unknown
2       2026-01-01T12:05:00.000Z   failure   ≥1/2   unknown
3       2026-01-01T12:05:10.000Z   failure   2/2    failure   known from here on
4       2026-01-01T12:05:20.000Z   failure   2/2    failure                            failure
5       2026-01-01T12:05:30.000Z   success   1/1    success   the container is ready   success
        another container                           unknown
6       2026-01-01T12:05:31.000Z   failure   ≥1/2   unknown

Recorded are the attempts behind each change of a result and behind kubelet's events. Of others it is not known
what they found, nor whether they were made; after them the result is unknown until enough known findings in a row.
`,
    );
  });

  test('has the same as JSON, with its own thresholds if none are given', async () => {
    const { out } = await run(['simulate', '--target', 'target/web', '-o', 'json']);
    const [{ probe, rows }] = JSON.parse(out);
    assert.equal(probe.failureThreshold, 3);
    assert.deepEqual(
      rows.map(({ missing, steps }: { readonly missing?: number; readonly steps: readonly object[] }) => [
        missing,
        steps.length,
      ]),
      [
        [undefined, 1],
        [29, 4],
        [0, 1],
      ],
    );
    assert.partialDeepStrictEqual(rows[1].steps[2], { run: 3, result: 'failure', published: 'failure' });
  });

  test('says what is missing or does not go together', async () => {
    await world.expect(201, 'PUT', `${path}-new`, { spec: { host: 'a', livenessProbe: { tcpSocket: { port: 1 } } } });
    for (const [args, code, line] of [
      [['--target', 'none'], 4, /there is no target none in namespace default/],
      [['--target', 'web', '--probe', 'startup'], 4, /target\/web has no startup probe: it has readiness of main/],
      [
        ['--target', 'web-new'],
        1,
        /nothing is recorded of target\/web-new: 'probelet probe target\/web-new' makes an attempt/,
      ],
      [['--target', 'web', 'S'], 2, /--target goes with neither findings nor --filename/],
    ] as const) {
      const ran = await run(['simulate', ...args]);
      assert.deepEqual([ran.code, ran.out], [code, '']);
      assert.match(ran.err[0] ?? '', line);
    }
  });
});
