/**
 * How each function becomes one file: the options of esbuild that the deployment and `npm run bench:cold` share, so that what is measured
 * is what is deployed.
 */
import { join } from 'node:path';

export const functionNames = ['schedule', 'prober', 'status-sync', 'api'] as const;
export type FunctionName = (typeof functionNames)[number];

/** Its `handler` is the function's. */
export const entryFile = (name: FunctionName): string => join(import.meta.dirname, name, 'handler.ts');

/** One JavaScript file for any CPU: nothing native is in it. */
export const bundling = {
  platform: 'node',
  target: 'node24',
  format: 'esm',
  bundle: true,
  minify: true,
  /** Beside the bundle, without the sources; see lambda/stack.ts. */
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'none',
  /** The ES modules of a package first: of its CommonJS nothing could be left out. Half of the size hangs on it. */
  mainFields: ['module', 'main'] as string[],
  /** See there: the price of ES modules, 13 ms. */
  alias: { 'node:http': join(import.meta.dirname, 'lambda/node-http.cjs') },
  /** What is CommonJS all the same asks for Node's own modules with `require`. */
  banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
} as const;
