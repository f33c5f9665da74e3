import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import type { Holder } from '../../../shared/holder/holder.ts';
import type { HeldTarget } from '../../../shared/holder/probing/worker.ts';
import { renewSuccessor } from '../../../shared/holder/probing/worker.ts';

const record = (version: number, streak: number, uid = 'u1') => ({ uid, version, streak }) as ProbeRecord;

/** Whether a holder whose present view of the target has this record reads it again. */
async function reloads(known: ProbeRecord | undefined, after: ProbeRecord): Promise<boolean> {
  const address = { prefix: 'p' };
  const gone = { address, gone: true } as unknown as HeldTarget;
  const records = new Map(known ? [['app#readiness', known]] : []);
  const successor = { address, target: { uid: known?.uid }, records } as unknown as HeldTarget;
  let reloaded = false;
  const reload = async (held: HeldTarget) => {
    assert.equal(held, successor);
    reloaded = true;
  };
  const holder = { targets: new Map([['p', successor]]), reload } as unknown as Holder;
  await renewSuccessor(holder, gone, 'app#readiness', after);
  return reloaded;
}

describe('a target that was read again while a commit of it was under way', () => {
  test('is read once more if that read came before the commit', async () => {
    assert.equal(await reloads(record(1, 4), record(2, 4)), true);
    assert.equal(await reloads(record(1, 4), record(1, 5)), true);
  });

  test('is not read again if it knows of the commit, or of a later one', async () => {
    assert.equal(await reloads(record(2, 5), record(2, 5)), false);
    assert.equal(await reloads(record(3, 5), record(2, 5)), false);
  });

  test('is not read again if it is another incarnation, or gone', async () => {
    assert.equal(await reloads(record(0, 0, 'u2'), record(2, 5)), false);
    assert.equal(await reloads(undefined, record(2, 5)), false);
  });
});
