/** Run before the tests: without Java the run stops at once, with a hint how to get it. */
import { requireJava } from './dynamodb-local.ts';

try {
  requireJava();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
