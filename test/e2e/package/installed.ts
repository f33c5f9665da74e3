/** The packed package, installed in a new folder as a user does it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '../../..');

export type Installed = {
  readonly folder: string;
  /** What was packed, for another installation. */
  readonly tarball: string;
  /** Runs a program there. Without what is beside it in a clone. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Ran;
  remove(): void;
};

export type Ran = { readonly status: number | null; readonly out: string; readonly err: string };

/** Packs the clone and installs the result. @throws if one of them fails */
export function installPackage(): Installed {
  execFileSync('npm', ['run', '--silent', 'pack'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const [packed = ''] = globSync('dist/*.tgz', { cwd: root });
  const tarball = join(root, packed);
  const folder = mkdtempSync(join(tmpdir(), 'probelet-package-'));
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  const options = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...options, tarball], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  cpSync(join(import.meta.dirname, 'app'), folder, { recursive: true });
  return { folder, tarball, run: runIn(folder), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export const runIn =
  (folder: string): Installed['run'] =>
  (program, args, env = {}) => {
    const { status, stdout, stderr } = spawnSync(program, args, {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    });
    return { status, out: stdout, err: stderr };
  };

/** Adds packages of the clone, which are too large to be installed once more. */
export function linkPackages(folder: string, names: readonly string[]): void {
  for (const name of names) {
    const link = join(folder, 'node_modules', name);
    mkdirSync(join(link, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
}

/** What the installed files take on the disk, as `du` counts. */
export function diskBytes(folder: string): number {
  const blockBytes = 512;
  return globSync('**/*', { cwd: folder }).reduce(
    (sum, path) => sum + lstatSync(join(folder, path)).blocks * blockBytes,
    0,
  );
}
