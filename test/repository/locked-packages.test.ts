/** Whatever a package registry hands out, only the files that were locked are installed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

type Entry = {
  readonly version?: string;
  readonly integrity?: string;
  readonly inBundle?: true;
};

describe('package-lock.json', () => {
  const { packages }: { packages: Record<string, Entry> } = JSON.parse(read('package-lock.json'));
  // What is bundled comes within the file of another package, whose hash covers it.
  const fetched = Object.entries(packages).filter(([path, { inBundle }]) => path !== '' && !inBundle);

  test('has a SHA-512 hash for each package that is fetched, whatever platform it is for', () => {
    assert.ok(fetched.length > 100);
    const others = fetched.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
    assert.deepEqual(
      others.map(([path]) => path),
      [],
    );
  });
});

for (const path of ['test/support/requirements.txt', 'test/support/dockerfiles.txt', 'test/api/requirements.txt'])
  describe(path, () => {
    const packages = read(path)
      .replaceAll(/^#.*\n/gm, '')
      .replaceAll('\\\n', '')
      .trim()
      .split('\n');

    test('has one version and the SHA-256 hashes of each package', () => {
      const locked = /^[\w.-]+==[\w.]+(?: ; [^#]+?)?(?:\s+--hash=sha256:[0-9a-f]{64})+\s*$/;
      assert.ok(packages.length > 0);
      assert.deepEqual(
        packages.filter((line) => !locked.test(line)),
        [],
      );
    });
  });

test('pip is told to install nothing without a hash', () => {
  for (const path of ['test/support/ministack.ts', 'test/support/dockerfiles.sh', 'test/api/schemathesis.sh'])
    for (const line of read(path)
      .split('\n')
      .filter((text) => /pip'?\)?,? .*install/.test(text)))
      assert.match(line, /--require-hashes/, path);
});
