/** The file of alerts on a disk that is full: what receivers have been sent is kept all the same. */
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { alertFile } from '../../../functions/local/alerts/alert-file.ts';
import type { KeptAlerts } from '../../../shared/alerts/kept-alerts.ts';
import { sampleNotification } from '../../alerts/alert-world.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const [incident] = sampleNotification().incidents;
assert.ok(incident);

/** With so many incidents, each of a message of its own. */
function keptOf(count: number, message: string): KeptAlerts {
  const named = Array.from({ length: count }, (_, at) => [`t${at}`, { ...incident, message: `${message} ${at}` }]);
  return { version: 1, state: { incidents: Object.fromEntries(named), batches: {} }, outbox: {} };
}

/** A disk that takes the files that it has, and no other one, once it is full. */
async function disk(t: TestContext) {
  const path = join(temporaryFolder(t), 'alerts.json');
  const log = recordingLog();
  const file = alertFile(path, log);
  await file.load();
  const besides = `${path}.new`;
  return {
    path,
    log,
    file,
    reserve: `${path}.reserve`,
    fill() {
      rmSync(besides, { force: true });
      symlinkSync('/dev/full', besides);
    },
    free: () => rmSync(besides),
    /** What the next process finds. */
    found: () => alertFile(path, recordingLog()).load(),
  };
}

describe('alerts on a full disk', () => {
  test('are kept, each time anew, and one line says so', async (t) => {
    const { file, fill, found, log } = await disk(t);
    fill();
    for (const message of ['first', 'second', 'third']) {
      await file.save(keptOf(9, message));
      assert.deepEqual(await found(), keptOf(9, message));
    }
    const lines = log.lines.map(({ level, message, fields }) => [level, message, `${fields?.error}`.slice(7, 13)]);
    assert.deepEqual(lines, [['warn', 'the disk takes no file of alerts: they are kept in its reserve', 'ENOSPC']]);
  });

  test('are those of the file again once the disk has space', async (t) => {
    const { file, fill, free, found, log } = await disk(t);
    await file.save(keptOf(1, 'before'));
    for (const round of [1, 2]) {
      fill();
      await file.save(keptOf(2, `full ${round}`));
      assert.deepEqual(await found(), keptOf(2, `full ${round}`));
      free();
      assert.deepEqual(await found(), keptOf(2, `full ${round}`), 'not yet saved again');
      await file.save(keptOf(1, `after ${round}`));
      assert.deepEqual(await found(), keptOf(1, `after ${round}`));
    }
    assert.equal(log.lines.length, 2, 'each full disk is said');
  });

  test('are written by the next process where the one before has ended', async (t) => {
    const { file, fill, path, found } = await disk(t);
    fill();
    await file.save(keptOf(1, 'first life'));
    const second = alertFile(path, recordingLog());
    await second.load();
    await second.save(keptOf(1, 'second life'));
    assert.deepEqual(await found(), keptOf(1, 'second life'));
    // One that has not read them.
    await alertFile(path, recordingLog()).save(keptOf(1, 'third life'));
    assert.deepEqual(await found(), keptOf(1, 'third life'));
  });

  test('are the newer ones although the file was closed to others meanwhile', async (t) => {
    const { file, fill, path, found } = await disk(t);
    await file.save(keptOf(1, 'before'));
    fill();
    await file.save(keptOf(2, 'full'));
    chmodSync(path, 0o400);
    assert.deepEqual(await found(), keptOf(2, 'full'));
  });

  test('that are too many for the reserve are not kept, which is an error, and those before stay', async (t) => {
    const { file, fill, found } = await disk(t);
    fill();
    await file.save(keptOf(300, 'many'));
    await assert.rejects(file.save(keptOf(3_000, 'too many')), { code: 'ENOSPC' });
    assert.deepEqual(await found(), keptOf(300, 'many'));
  });

  test('take no place that the disk has not given before', async (t) => {
    const { file, fill, reserve } = await disk(t);
    const { size, blocks, ino } = statSync(reserve);
    assert.equal(size, 1_048_576);
    assert.ok(blocks * 512 >= size, `${blocks} blocks`);
    fill();
    for (let at = 0; at < 5; at += 1) await file.save(keptOf(100 * at, 'more'));
    const after = statSync(reserve);
    assert.deepEqual([after.size, after.blocks, after.ino], [size, blocks, ino]);
  });

  test('are those before or those after a power loss during a write, wherever it is cut', async (t) => {
    const { file, fill, reserve, found } = await disk(t);
    const random = seededRandom(20_411);
    fill();
    await file.save(keptOf(5, 'write 0'));
    let olds = 0;
    for (let write = 1; write <= 60; write += 1) {
      const before = readFileSync(reserve);
      await file.save(keptOf(5 + (write % 3), `write ${write}`));
      const after = readFileSync(reserve);
      const changed = [...after.keys()].filter((at) => after[at] !== before[at]);
      const [first = 0, last = 0] = [changed[0], changed.at(-1)];
      const cut = first + Math.floor(random.next() * (last + 2 - first));
      writeFileSync(reserve, Buffer.concat([after.subarray(0, cut), before.subarray(cut)]));
      const kept = await found();
      const isNew = JSON.stringify(kept) === JSON.stringify(keptOf(5 + (write % 3), `write ${write}`));
      if (!isNew) assert.deepEqual(kept, keptOf(5 + ((write - 1) % 3), `write ${write - 1}`));
      olds += isNew ? 0 : 1;
      writeFileSync(reserve, after);
    }
    assert.ok(olds > 30, `${olds} of 60 cuts were within a write`);
  });

  test('need no reserve to begin: without one a full disk is an error', async (t) => {
    const path = join(temporaryFolder(t), 'alerts.json');
    symlinkSync('/dev/full', `${path}.reserve`);
    symlinkSync('/dev/full', `${path}.new`);
    const log = recordingLog();
    const file = alertFile(path, log);
    assert.equal(await file.load(), undefined);
    await assert.rejects(file.save(keptOf(1, 'lost')), { code: 'ENOSPC' });
    const [line] = log.lines;
    assert.match(`${line?.message}`, /no place on the disk is reserved for alerts: free some space/);
  });
});
