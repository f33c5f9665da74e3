/** Bundles functions and task with esbuild: for a deployment from a clone, and ahead of time for the npm package. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buildSync } from 'esbuild';
import { type BundleName, bundling, entryFile } from './bundling.ts';

const root = join(import.meta.dirname, '..');

/**
 * Writes `index.mjs` and its source map to the folder. Bundles as if the output were beside the sources, so that the
 * paths in the source map, and therefore the hash, are the same in every clone. Returns the files that it was made of,
 * as paths from the root of the clone.
 */
export function writeBundle(name: BundleName, folder: string): readonly string[] {
  const { banner, ...options } = bundling;
  const { outputFiles, metafile } = buildSync({
    ...options,
    banner: { js: banner },
    entryPoints: [entryFile(name)],
    absWorkingDir: root,
    outfile: join(root, 'index.mjs'),
    write: false,
    metafile: true,
    logLevel: 'error',
  });
  mkdirSync(folder, { recursive: true });
  for (const { path, contents } of outputFiles) writeFileSync(join(folder, basename(path)), contents);
  return Object.keys(metafile.inputs);
}

/** Writes what the image of the prober's task is built from: its Dockerfile. The bundle of `task` goes beside it. */
export const writeDockerfile = (folder: string): void =>
  cpSync(join(import.meta.dirname, 'prober/Dockerfile'), join(folder, 'Dockerfile'));
