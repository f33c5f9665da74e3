import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runFile, vectorFiles } from './run.ts';

const folder = join(import.meta.dirname, 'vectors');

describe('the recorded behaviour of kubelet is reproduced', () => {
  for (const file of vectorFiles(folder))
    test(file, async () => {
      const { passed, failures, notRun } = await runFile(folder, file);
      assert.deepEqual(failures, []);
      assert.equal(notRun, 0);
      assert.notEqual(passed, 0);
    });
});
