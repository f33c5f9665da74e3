import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runFile } from './run.ts';
import { keptVectors, vectorFiles } from './vector-files.ts';

describe('the recorded behaviour of kubelet is reproduced', () => {
  for (const file of vectorFiles(keptVectors))
    test(file, async () => {
      const { entries, passed, failures, notRun } = await runFile(keptVectors, file);
      assert.deepEqual(failures, []);
      assert.equal(notRun, 0);
      assert.notEqual(passed, 0);
      assert.notDeepEqual(entries, []);
    });
});
