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
  readonly optional?: true;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
};

/**
 * Builds for platforms that the registry in use when the lock file was written did not have, so their hashes are not
 * known here. They are of development tools, and npm installs none of them on Linux with glibc on x64 or arm64.
 */
const elsewhere: readonly string[] = [
  ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64'].map((name) => `@biomejs/cli-${name}`),
  ...['linux-arm64-musl', 'linux-x64-musl', 'win32-arm64', 'win32-x64'].map((name) => `@biomejs/cli-${name}`),
  ...['android-arm-eabi', 'android-arm64', 'darwin-arm64', 'darwin-x64'].map((name) => `@oxc-parser/binding-${name}`),
  ...['freebsd-x64', 'linux-arm-gnueabihf', 'linux-arm-musleabihf'].map((name) => `@oxc-parser/binding-${name}`),
  ...['linux-ppc64-gnu', 'linux-riscv64-gnu', 'linux-riscv64-musl'].map((name) => `@oxc-parser/binding-${name}`),
  ...['linux-s390x-gnu', 'openharmony-arm64', 'win32-arm64-msvc'].map((name) => `@oxc-parser/binding-${name}`),
  ...['win32-ia32-msvc', 'win32-x64-msvc'].map((name) => `@oxc-parser/binding-${name}`),
];

describe('package-lock.json', () => {
  const { packages }: { packages: Record<string, Entry> } = JSON.parse(read('package-lock.json'));
  // What is bundled comes within the file of another package, whose hash covers it.
  const fetched = Object.entries(packages).filter(([path, { inBundle }]) => path !== '' && !inBundle);
  const unknown = fetched.filter(([, { integrity }]) => integrity === undefined);

  test('has a SHA-512 hash for each package but the named ones', () => {
    assert.ok(fetched.length > 100);
    assert.deepEqual(unknown.map(([path]) => path.replace('node_modules/', '')).sort(), [...elsewhere].sort());
    const known = fetched.filter(([path]) => !unknown.some(([other]) => other === path));
    assert.deepEqual(
      known.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity)),
      [],
    );
  });

  test('needs none of the named ones on the platforms that are supported', () => {
    const supported = unknown.filter(
      ([path, { optional, os = [], cpu = [] }]) =>
        !optional ||
        (os.includes('linux') && ['x64', 'arm64'].some((name) => cpu.includes(name)) && !path.includes('musl')),
    );
    assert.deepEqual(supported, []);
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
