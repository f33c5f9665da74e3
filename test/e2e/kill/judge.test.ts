/** What may be written again of a settled target, and what not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stableItemsUnchanged } from './judge.ts';
import type { Snapshot } from './snapshot.ts';
import type { Cast } from './targets.ts';

const cast = { families: new Map([['it', 'failing']]) } as unknown as Cast;

/** `entries`: those of the event history, each with its probe and the transaction that wrote it. */
function snapshotOf(item: object, entries: readonly (readonly [string, string])[] = []): Snapshot {
  const record = { container: 'app', probeType: 'readiness' };
  return {
    statuses: new Map(),
    probes: [{ target: 'it', sk: 'PROBE', text: JSON.stringify({ version: 1, ...item }), record }],
    events: entries.map(([probeType, lastWrite]) => ({
      target: 'it',
      record: { ...record, probeType },
      text: JSON.stringify({ lastWrite }),
    })),
  } as unknown as Snapshot;
}

const settled = snapshotOf({ history: { fullAtMs: 1 }, lastWrite: 'a' }, [['readiness', 'a']]);
const written = { history: { fullAtMs: 2 }, lastWrite: 'b' };
const own = [['readiness', 'b']] as const;
const foreign = [['liveness', 'b']] as const;
const fault = ['PROBE was written'];

for (const [what, now, faults] of [
  ['nothing', settled, []],
  ['the budget, with an entry', snapshotOf(written, own), []],
  ['the budget, with none', snapshotOf(written), fault],
  ['the budget, with an entry of another probe', snapshotOf(written, foreign), fault],
  ['the budget, by another transaction than the entry', snapshotOf({ ...written, lastWrite: 'c' }, own), fault],
  ['another field, with an entry', snapshotOf({ ...written, version: 2 }, own), fault],
  ['a field more, with an entry', snapshotOf({ ...written, onHold: true }, own), fault],
  ['the item is gone', { ...settled, probes: [] }, fault],
] as const)
  test(`written of a settled probe: ${what}`, () => {
    assert.deepEqual(stableItemsUnchanged(cast, settled, now), faults);
  });
