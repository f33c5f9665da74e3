/** What is due to the authors of other packages whose code is part of this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package by its folder; `path` is from the root of the clone. */
const packageFolder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/** The licences of the packages whose files are bundled, with their texts. @throws if one has no licence */
export function bundledLicences(root: string, files: readonly string[]): string {
  const folders = new Set(files.flatMap((path) => packageFolder.exec(path)?.[1] ?? []));
  const texts = [...folders].sort().map((folder) => licenceText(join(root, folder)));
  const intro = 'The programs in this folder contain code of these packages, under the licences below them.\n';
  return [intro, ...new Set(texts)].join(`\n${'-'.repeat(80)}\n`);
}

/** Not each package has the text in a file of its own. */
function licenceText(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} ${version} names no licence: it must not be bundled`);
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.|$)/i.test(each));
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
  return `${name} ${version}: ${license}\n${text}`;
}
