/** buildah: builds and runs images without a daemon. What it makes is in one folder. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs it and returns what it prints. @throws if it fails */
export type Buildah = (...args: readonly string[]) => string;

export type Builder = {
  readonly buildah: Buildah;
  /** The arguments before those of a command. */
  readonly options: readonly string[];
  remove(): void;
};

/** No namespaces: a container of a build machine may not make any. */
process.env.BUILDAH_ISOLATION = 'chroot';
const commandMsMax = 180_000;

/** Ends the process if buildah is not installed. */
export function startBuilder(): Builder {
  if (spawnSync('buildah', ['--version']).status !== 0) {
    console.error('buildah is missing: apt-get install -y --no-install-recommends buildah');
    process.exit(2);
  }
  const folder = mkdtempSync(join(tmpdir(), 'probelet-image-'));
  const options = ['--storage-driver', 'vfs', '--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
  const buildah: Buildah = (...args) =>
    execFileSync('buildah', [...options, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: commandMsMax,
    }).trim();
  const remove = () => {
    buildah('rm', '--all');
    rmSync(folder, { recursive: true, force: true });
  };
  return { buildah, options, remove };
}
