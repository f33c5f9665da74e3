/** The esbuild options that make one program of `main.ts`: for a clone, and ahead of time for the npm package. */
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

/** A file that looks for others beside it looks from where it was, as seen from the folder of the bundle. */
const places = (folder: string): Plugin => ({
  name: 'places',
  setup({ onLoad }) {
    onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
      if (path.includes('/node_modules/')) return undefined;
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.')) return undefined;
      const url = `new URL(${JSON.stringify(relative(folder, path))}, import.meta.url)`;
      const contents = text
        .replaceAll('import.meta.filename', `${url}.pathname`)
        .replaceAll('import.meta.url', `${url}.href`);
      return { contents, loader: 'ts' };
    });
  },
});

/** Writes `main.mjs` and what it loads to the folder. Returns what they were made of, as paths from `root`. */
export async function bundleProgram(
  entry: string,
  { root, folder }: { root: string; folder: string },
): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: [entry],
    absWorkingDir: root,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    // Names stay, for stack traces and heap snapshots.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    // Loaded only where they are used, and `nodemailer` only if it is installed.
    external: ['@aws-sdk/*', 'nodemailer', 'undici'],
    // CommonJS modules load Node's built-in modules with `require`.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    plugins: [places(folder)],
    metafile: true,
    logLevel: 'error',
  });
  return metafile;
}
