/** What an installation consists of. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { billOfMaterials, licenceList } from '../../../package/bill.ts';
import { linksOf } from '../../support/markdown.ts';
import type { Tally } from '../../support/tally.ts';
import { diskBytes, type Installed, root } from './installed.ts';

const installedMbMax = 60;

export function judgeContents(installed: Installed, verdict: Tally['verdict']): void {
  const modules = join(installed.folder, 'node_modules');
  const { status, out } = installed.run('npm', ['ls', '--omit=dev', '--all', '--parseable']);
  const names = out
    .split('\n')
    .flatMap((path) => path.split('node_modules/').at(-1) ?? [])
    .filter((name) => name !== '');
  const packages = new Set(names.filter((name) => !name.startsWith('/') && name !== 'probelet'));
  verdict(`npm ls finds nothing missing among ${packages.size} packages`, status === 0 && packages.size > 0);
  verdict(
    'no tool and no peer is installed',
    ['esbuild', 'typescript', 'aws-cdk-lib', 'nodemailer'].filter((name) => packages.has(name)),
  );
  const mb = diskBytes(modules) / 1024 / 1024;
  verdict(`it takes ${mb.toFixed(1)} MB, less than ${installedMbMax}`, mb < installedMbMax);
  const typescript = globSync('**/*.{ts,mts,cts}', { cwd: join(modules, 'probelet') });
  verdict(
    'no TypeScript but declarations is in it',
    typescript.filter((path) => !/\.d\.[mc]?ts$/.test(path)),
  );
  const from = (path: string) => join(modules, 'probelet', path);
  const links = linksOf(readFileSync(from('README.md'), 'utf8')).filter((link) => !/^([a-z]+:|#)/.test(link));
  verdict(
    `the ${links.length} links of its README lead to its files`,
    links.filter((link) => !existsSync(from(link.replace(/#.*/, '')))),
  );
  const bill = billOfMaterials(root);
  const named = new Set(bill.components.map(({ name }) => name));
  verdict(
    'the bill of materials names what is installed',
    [...packages, ...named].filter((name) => !packages.has(name) || !named.has(name)),
  );
  verdict('each has a licence', licenceList(bill).split('\n').length === bill.components.length + 1);
}
