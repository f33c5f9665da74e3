/** The files that a configuration names: those that are found, and why others are not. */
import assert from 'node:assert/strict';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { configSources } from '../../../functions/local/config/config-sources.ts';
import { targetConverter } from '../../../functions/local/threads/converter.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { fileBytesMax } from '../../../shared/manifest/limits.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

function folderWith(t: TestContext, names: readonly string[]): string {
  const folder = temporaryFolder(t);
  for (const name of names) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), '');
  }
  return folder;
}

const found = async (folder: string, files: readonly string[]) => {
  const { files: all, faults, mayExist, folders } = await configSources(folder, [{ files }]);
  const details = faults.map(({ file, detail }) => `${file} ${detail.replaceAll(folder, 'FOLDER')}`);
  return { names: all.map(({ name }) => name), details, mayExist, folders };
};

test('files are found by name and by glob, each once, in order, without hidden ones', async (t) => {
  const folder = folderWith(t, ['b.yaml', 'sub/deep/a.yaml', '.hidden.yaml', '..data/x.yaml', 'c.txt']);
  const { names, details } = await found(folder, ['b.yaml', '**/*.yaml', './b.yaml', `${folder}/c.txt`]);
  assert.deepEqual([names, details], [['b.yaml', 'c.txt', 'sub/deep/a.yaml'], []]);
});

test('what cannot be read is named, and keeps its targets', async (t) => {
  const folder = folderWith(t, ['large.yaml', 'sub/a.yaml']);
  truncateSync(join(folder, 'large.yaml'), fileBytesMax + 1);
  const patterns = ['large.yaml', 'missing.yaml', 'sub', '/dev/null', 'away/**/*.yaml'];
  const { details, mayExist, names } = await found(folder, patterns);
  assert.deepEqual(details, [
    `large.yaml has more than ${fileBytesMax} bytes`,
    'missing.yaml there is no such file',
    'sub is a folder: name its files, as in folder/*.yaml',
    `${relative(folder, '/dev/null')} is not a regular file`,
    'away/**/*.yaml there is no folder FOLDER/away',
  ]);
  const asked = ['missing.yaml', 'away/deep/a.yaml', 'away/a.txt', 'other.yaml'];
  assert.deepEqual([names, asked.map(mayExist)], [[], [true, true, false, false]]);
});

test('too many files are too many', async (t) => {
  const folder = folderWith(
    t,
    Array.from({ length: 1_001 }, (_, index) => `${index}.yaml`),
  );
  const { names, details, mayExist } = await found(folder, ['*.yaml']);
  assert.equal(names.length, 1_000);
  assert.deepEqual(details, ['*.yaml is beyond the 1000 files that a configuration may have']);
  assert.ok(mayExist('1000.yaml'));
});

test('a thread converts a file, and says what is wrong with it', async (t) => {
  const folder = folderWith(t, ['empty.yaml']);
  writeFileSync(join(folder, 'other.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n');
  writeFileSync(join(folder, 'latin.yaml'), Buffer.from([0x61, 0xe9]));
  const converter = targetConverter(systemClock);
  t.after(() => converter.close());
  const { signal } = new AbortController();
  const kindOf = async (name: string) => {
    const read = await converter.convert({ name, path: join(folder, name), folders: [folder] }, signal);
    return read.kind === 'read' ? read.targets.length : read.errors.map(({ detail }) => detail).join();
  };
  assert.match(`${await kindOf('empty.yaml')}`, /^is empty/);
  assert.equal(await kindOf('other.yaml'), 0);
  assert.equal(await kindOf('latin.yaml'), 'is not UTF-8');
  assert.equal(await kindOf('gone.yaml'), 'there is no such file');
  const stopped = await converter.convert({ name: 'empty.yaml', path: '', folders: [] }, AbortSignal.abort());
  assert.equal(stopped.kind, 'invalid');
  assert.equal(await kindOf('other.yaml'), 0);
});
