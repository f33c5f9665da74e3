/**
 * Runs the test files of its arguments in this process, one after the other, and ends with 1 at the first failure,
 * which it prints.
 */
import { run } from 'node:test';

const failedExitCode = 1;

run({ files: process.argv.slice(2), isolation: 'none', concurrency: false }).on('test:fail', ({ name, file }) => {
  process.stdout.write(`${JSON.stringify({ test: name, file })}\n`, () => process.exit(failedExitCode));
});
