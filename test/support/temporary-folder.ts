/** Folders that tests write to. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';

/** A new folder that is deleted after the test, or after the last test of the file if none is given. */
export function temporaryFolder(t?: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-test-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (t) t.after(remove);
  else after(remove);
  return folder;
}
