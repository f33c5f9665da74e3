/** Run before the tests: without Python the run stops at once, with a hint how to get it. */
import { requireMinistack } from './ministack.ts';

try {
  requireMinistack();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
