/**
 * The construct for apps of the CDK whose modules are CommonJS: `cdk init` makes such apps, and jest, which it tests
 * them with, cannot load an ES module. The code is one file, and the declarations are those of the ES module.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Writes `commonjs` in the folder of the package, which `package.json` names for `require`. */
export function writeCommonJs(root: string, built: string): void {
  const folder = join(built, 'commonjs');
  buildSync({
    entryPoints: [join(root, 'package/cdk.ts')],
    outfile: join(folder, 'cdk.js'),
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    packages: 'external',
    conditions: ['package'],
    // The file lies as deep in the package as the ES modules whose neighbours it reads: `lambda` and `package.json`.
    define: { 'import.meta.dirname': '__dirname', 'import.meta.url': 'fileUrl' },
    banner: { js: "const fileUrl = require('node:url').pathToFileURL(__filename).href;" },
    logLevel: 'error',
  });
  writeFileSync(join(folder, 'cdk.d.ts'), "export * from '../package/cdk.js';\n");
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n');
}
