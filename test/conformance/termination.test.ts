/** That the player of the termination vectors looks at everything which they record. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runTermination } from './termination.ts';
import type { Recorded, TerminationVector } from './termination-vector.ts';
import { keptVectors, readVectors } from './vector-files.ts';

const vectors = readVectors(join(keptVectors, 'termination.jsonl'));

function vectorNamed(name: string): TerminationVector & { readonly name: string } {
  const found = vectors.find((vector) => vector.name === `termination/${name}`);
  assert.ok(found, name);
  return found as unknown as ReturnType<typeof vectorNamed>;
}

/** The vector with something else recorded after its last op before the containers end. */
async function findingWith(name: string, wrong: (recorded: Recorded) => Partial<Recorded>) {
  const vector = vectorNamed(name);
  const at = vector.ops.findIndex(({ op }) => op === 'delete');
  const ops = vector.ops.map((op, index) =>
    index === at ? { ...op, expect: { ...op.expect, ...wrong(op.expect) } } : op,
  );
  return runTermination({ ...vector, ops });
}

describe('a termination vector is not reproduced with', () => {
  const cases: readonly (readonly [what: string, wrong: (recorded: Recorded) => Partial<Recorded>])[] = [
    ['a probe more', ({ probed }) => ({ probed: ['app/liveness', ...probed] })],
    ['a probe less', () => ({ probed: [] })],
    ['another result', () => ({ results: { 'app/readiness': 'failure' } })],
    ['a result more', ({ results }) => ({ results: { ...results, 'app/liveness': 'success' } })],
    ['a verdict less', () => ({ verdicts: {} })],
    [
      'another status of a condition',
      ({ conditions }) => ({ conditions: conditions.map((each) => ({ ...each, status: 'False' })) }),
    ],
    [
      'another reason',
      ({ conditions }) => ({ conditions: conditions.map((each) => ({ ...each, reason: 'PodFailed' })) }),
    ],
    [
      'another message',
      ({ conditions }) => ({ conditions: conditions.map((each) => ({ ...each, message: 'other' })) }),
    ],
    [
      'a container that is not ready',
      ({ containers }) => ({ containers: containers.map((each) => ({ ...each, ready: false })) }),
    ],
    [
      'a container that has not started',
      ({ containers }) => ({ containers: containers.map((each) => ({ ...each, started: false })) }),
    ],
    ['the end of the pod', () => ({ ended: true })],
  ];
  test('nothing changed, it is', async () => assert.equal(await findingWith('live', () => ({})), undefined));
  for (const [what, wrong] of cases)
    test(what, async () => assert.equal(typeof (await findingWith('live', wrong)), 'string'));
});
