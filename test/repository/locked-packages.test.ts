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
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly engines?: { readonly node?: string };
};

/** Debian's, whose npm installs the locked Node that everything else runs on. */
const installsWith = 18;

/** Whether each range that the package accepts begins above. Of ranges as npm has them only `>=` and `^` occur. */
const needsNewer = ({ engines: { node = '*' } = {} }: Entry): boolean =>
  node.split('||').every((range) => Number(/(?:>=|\^)\s*(\d+)/.exec(range)?.[1] ?? 0) > installsWith);

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

  test(`leaves no program for Linux out where npm runs on Node ${installsWith}`, () => {
    // npm drops an optional package without a word if its own Node is older than the package asks for. These run on the
    // locked Node, so `engines` of such an entry is removed from the lock file.
    const isSupported = ({ os = [], cpu = [] }: Entry) =>
      os.includes('linux') && (cpu.includes('x64') || cpu.includes('arm64'));
    const dropped = fetched.filter(
      ([path, entry]) => isSupported(entry) && needsNewer(entry) && !path.includes('musl'),
    );
    assert.deepEqual(
      dropped.map(([path]) => path),
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
  for (const path of ['test/support/python-programs.ts', 'test/support/dockerfiles.sh', 'test/api/schemathesis.sh'])
    for (const line of read(path)
      .split('\n')
      .filter((text) => /pip'?\)?,? .*install/.test(text)))
      assert.match(line, /--require-hashes/, path);
});
