/** Where a system does not sync folders, their names are kept as it does; what is not there is an error. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { syncFolder, syncMadeFolders } from '../../../functions/local/process/durable-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const ways: { readonly [name: string]: (folder: string) => Promise<void> } = {
  'a folder': syncFolder,
  'the folder around one that was made': async (folder) => syncMadeFolders(join(folder, 'made'), join(folder, 'made')),
};

for (const [name, sync] of Object.entries(ways))
  describe(name, () => {
    test('of a disk is synced', (t) => sync(temporaryFolder(t)));
    // The kernel answers EINVAL to fsync there.
    test('of a file system without sync is left as it is', { skip: process.platform !== 'linux' }, () => sync('/proc'));
    test('that is not there is an error', (t) => assert.rejects(sync(join(temporaryFolder(t), 'none')), /ENOENT/));
  });
