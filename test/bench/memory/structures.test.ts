import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeHeapSnapshot } from 'node:v8';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { heapOf } from './heap-snapshot.ts';
import { structuresOf } from './structures.ts';

const ownNumbers = 1_000;
const sharedNumbers = 5_000;
const bytesPerNumber = 8;

test('an object holds what only it leads to, by the properties on the way', () => {
  const shared = Array.from({ length: sharedNumbers }, (_, at) => at / 3);
  const owners = Array.from({ length: 20 }, (_, owner) => ({
    measuredOwner: `${owner}`,
    inner: { numbers: Array.from({ length: ownNumbers }, (_, at) => at / 3 + owner), deeper: { shared } },
  }));
  const file = writeHeapSnapshot(join(temporaryFolder(), 'test.heapsnapshot'));
  const { owners: found, held } = structuresOf(heapOf(readFileSync(file, 'utf8')), ['measuredOwner', 'inner']);
  assert.ok(found >= owners.length, `${found}`);
  const bytes = held.get('inner.numbers') ?? 0;
  const expected = ownNumbers * bytesPerNumber;
  assert.ok(bytes >= expected && bytes < expected * 1.1, `${bytes} bytes`);
  const whole = [...held.values()].reduce((sum, one) => sum + one, 0);
  assert.ok(whole < expected + sharedNumbers * bytesPerNumber, `${whole} bytes: what all share counts for none`);
});
