/** Another process that wants a data folder: says whether it got it, and holds it until its input ends. */
import { holdDataDir } from '../../../functions/local/process/data-dir.ts';
import { sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';

try {
  const { storePath } = holdDataDir(process.argv[2] ?? '');
  sqliteStore({ path: storePath });
  process.stdout.write('held');
  process.stdin.resume();
} catch (error) {
  process.stdout.write(String(error));
}
