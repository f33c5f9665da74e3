/** One test a vector file. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runFile } from './run.ts';
import { keptVectors, vectorFiles } from './vector-files.ts';

/** Whole workers, API included, in a simulated shard: much work for few vectors. */
const isLong = (file: string): boolean => /^(status-)?manager\./.test(file);

export const longFiles = vectorFiles(keptVectors).filter(isLong);
export const shortFiles = vectorFiles(keptVectors).filter((file) => !isLong(file));

export function testReproduced(files: readonly string[]): void {
  describe('the recorded behaviour of kubelet is reproduced', () => {
    for (const file of files)
      test(file, async () => {
        const { entries, passed, failures, notRun } = await runFile(keptVectors, file);
        assert.deepEqual(failures, []);
        assert.equal(notRun, 0);
        assert.notEqual(passed, 0);
        assert.notDeepEqual(entries, []);
      });
  });
}
