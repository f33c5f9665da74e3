/**
 * `npm run release`: everything that a release needs but publishing. It writes the package, its software bill of
 * materials and the list of licences to `dist`, and prints the command that publishes.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials, licenceList } from './bill.ts';

const root = join(import.meta.dirname, '..');

execFileSync('npm', ['run', '--silent', 'pack:check'], { cwd: root, stdio: 'inherit' });
const { repository } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const bill = billOfMaterials(root);
writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`);
writeFileSync(join(root, 'dist/licences.txt'), licenceList(bill));
const [tarball] = globSync('dist/*.tgz', { cwd: root });
if (repository === undefined)
  process.stderr.write('package.json has no `repository`: add it, or npm refuses to publish with provenance.\n');
process.stdout.write(`To publish: npm publish --provenance --access public ./${tarball}\n`);
