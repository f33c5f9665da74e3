import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Attempt, FailureClass } from '../../shared/core/spec/types.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { type ProbeOrder, probe } from '../../shared/prober/probe.ts';
import { proberError } from '../support/prober-error.ts';

const order: ProbeOrder = {
  target: { namespace: 'shop', name: 'checkout', uid: 'u' },
  host: '127.0.0.1',
  container: { name: 'app' },
  probeType: 'readiness',
  containerKind: 'container',
  handler: { tcpSocket: { port: 80 }, timeoutSeconds: 1 },
};

/** One probe whose prober gives the answers one after the other, the last one again and again. */
async function probed(answers: readonly (() => Attempt)[]) {
  let asked = 0;
  const answer = async (): Promise<Attempt> => {
    asked += 1;
    const next = answers[Math.min(asked, answers.length) - 1];
    assert.ok(next);
    return next();
  };
  const report = await probe(
    { probers: { http: answer, tcp: answer, grpc: answer, exec: answer }, clock: systemClock },
    order,
  );
  return { asked, ...report };
}

const erring = (failureClass: FailureClass) => () => proberError(failureClass);

describe('a prober error', () => {
  const unhealthy = 'Readiness probe errored and resulted in unknown state: problem';
  for (const [failureClass, attempts, message] of [
    ['BODY', 3, unhealthy],
    ['PROBER', 1, undefined],
    ['POLICY_DENIED', 1, undefined],
  ] as const)
    test(`of class ${failureClass} has ${attempts} attempts and ${message ? 'an' : 'no'} event`, async () => {
      const { asked, event, conclusion } = await probed([erring(failureClass)]);
      assert.deepEqual([asked, event?.message], [attempts, message]);
      assert.deepEqual(conclusion, { kind: 'error', error: 'problem', failureClass });
    });

  test('of class PROBER ends the attempts after another error', async () => {
    const { asked, event } = await probed([erring('BODY'), erring('PROBER')]);
    assert.equal(asked, 2);
    assert.equal(event, undefined);
  });
});

test('a prober that throws is a prober error of its own making', async () => {
  const { asked, conclusion } = await probed([
    () => {
      throw new Error('a bug');
    },
  ]);
  assert.equal(asked, 1);
  assert.deepEqual(conclusion, { kind: 'error', error: 'prober threw: a bug', failureClass: 'PROBER' });
});
