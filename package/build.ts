/**
 * `npm run pack`: builds the npm package in `dist/package` and packs it to `dist`. It contains JavaScript only, because
 * Node does not run TypeScript in `node_modules`, and the functions as they are deployed, so that an app that uses the
 * construct needs no bundler.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { functionNames } from '../functions/bundling.ts';
import { bundleProgram } from '../functions/local/program-bundle.ts';
import { writeBundle, writeDockerfile } from '../functions/write-bundle.ts';
import { writeCommonJs } from './commonjs.ts';
import { bundledLicences } from './licences.ts';
import { packageManifest } from './manifest.ts';
import { isForUsers, packageReadme, withoutOthersLinks } from './readme.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const built = join(dist, 'package');

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

rmSync(dist, { recursive: true, force: true });
mkdirSync(built, { recursive: true });
// Only the exports need declarations.
for (const project of ['package/tsconfig.json', 'package/tsconfig.types.json'])
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', project], { cwd: root, stdio: 'inherit' });
writeCommonJs(root, built);
const manifest = packageManifest(JSON.parse(read('package.json')), importedPackages());
writeFileSync(join(built, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
const bundled = ([...functionNames, 'task'] as const).flatMap((name) => writeBundle(name, join(built, 'lambda', name)));
writeDockerfile(join(built, 'lambda/task'));
writeFileSync(join(built, 'lambda/LICENSES.txt'), bundledLicences(root, bundled));
const folder = join(built, 'functions/local/program');
const { inputs } = await bundleProgram(join(built, 'functions/local/main.js'), { root, folder });
writeFileSync(join(folder, 'LICENSES.txt'), bundledLicences(root, Object.keys(inputs)));
for (const path of ['LICENSE', 'CHANGELOG.md', 'SECURITY.md', 'docs'])
  cpSync(join(root, path), join(built, path), { recursive: true, filter: isForUsers });
for (const path of globSync('{docs/**/*,*}.md', { cwd: built }))
  writeFileSync(join(built, path), withoutOthersLinks(readFileSync(join(built, path), 'utf8')));
writeFileSync(join(built, 'README.md'), packageReadme(read('docs/package.md')));
execFileSync('npm', ['pack', '--silent', '--pack-destination', dist], { cwd: built, stdio: 'inherit' });

/** The packages that the compiled code imports. */
function importedPackages(): ReadonlySet<string> {
  const bare = globSync('**/*.{js,mjs}', { cwd: built })
    .flatMap((path) => specifiersOf(path, readFileSync(join(built, path), 'utf8')))
    .filter((each) => !/^[.#]/.test(each) && !isBuiltin(each));
  return new Set(bare.map((each) => each.split('/', each.startsWith('@') ? 2 : 1).join('/')));
}

/** Of `import(…)` only what names its module literally: others import a file of the package. */
function specifiersOf(path: string, text: string): readonly string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module;
  const exported = staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value));
  const dynamic = dynamicImports.map(
    ({ moduleRequest: { start, end } }) => /^'(.+)'$/.exec(text.slice(start, end))?.[1],
  );
  const found = [...staticImports.map(({ moduleRequest }) => moduleRequest.value), ...exported, ...dynamic];
  return found.filter((each) => typeof each === 'string');
}
