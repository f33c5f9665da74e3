/** What `npm test` says at its beginning on a machine that lacks programs which the tests need. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { temporaryFolder } from '../support/temporary-folder.ts';

const support = join(import.meta.dirname, '../support');
const python = 'Python 3.10 or newer with its venv module';

// `ip` is found outside the path, too.
describe('npm test says at once all that is missing', { skip: process.platform !== 'linux' }, () => {
  for (const { there, lacks, packages } of [
    { there: ['ip'], lacks: `curl, unshare, mount, and ${python}`, packages: 'curl util-linux python3-venv' },
    { there: ['ip', 'unshare', 'mount'], lacks: `curl, and ${python}`, packages: 'curl python3-venv' },
  ])
    test(`beside ${there.join(', ')}`, (t) => {
      const root = temporaryFolder(t);
      const [copies, path] = [join(root, 'test/support'), join(root, 'path')];
      for (const folder of [copies, path]) mkdirSync(folder, { recursive: true });
      for (const file of ['require-programs.ts', 'python-programs.ts', 'requirements.txt'])
        copyFileSync(join(support, file), join(copies, file));
      for (const program of there) symlinkSync(process.execPath, join(path, program));
      const { status, stderr } = spawnSync(process.execPath, [join(copies, 'require-programs.ts')], {
        encoding: 'utf8',
        env: { PATH: path },
      });
      const said = `The tests need what this machine lacks: ${lacks}. On Debian: apt-get install ${packages}\n`;
      assert.deepEqual([status, stderr], [1, said]);
    });
});
