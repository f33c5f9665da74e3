/**
 * The esbuild options that bundle each function into one file. The deployment and `npm run bench:cold` share them, so
 * that the benchmark measures what is deployed.
 */
import { join } from 'node:path';

export const functionNames = ['schedule', 'prober', 'status-sync', 'api'] as const;
export type FunctionName = (typeof functionNames)[number];

/** A function, or the prober as a task. */
export type BundleName = FunctionName | 'task';

/** The file whose `handler` export is the function, or the program of the task. */
export const entryFile = (name: BundleName): string =>
  name === 'task' ? join(import.meta.dirname, 'prober/main.ts') : join(import.meta.dirname, name, 'handler.ts');

/** Produces one JavaScript file for any CPU, since there is no native code. */
export const bundling = {
  platform: 'node',
  target: 'node24',
  format: 'esm',
  bundle: true,
  minify: true,
  /** Written beside the bundle, without the sources; see lambda/stack.ts. */
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  /** Prefers a package's ES modules, because CommonJS modules cannot be tree-shaken. This halves the size. */
  mainFields: ['module', 'main'] as string[],
  /** Saves 13 ms that ES modules cost; see the file. */
  alias: { 'node:http': join(import.meta.dirname, 'lambda/node-http.cjs') },
  /** The remaining CommonJS modules load Node's built-in modules with `require`. */
  banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
} as const;
