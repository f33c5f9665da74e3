/** What is due to the authors of other packages whose code is part of this one. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package by its folder; `path` is from the root of the clone. */
const packageFolder = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//;

/**
 * The licences of the packages whose files are bundled, with their texts. Packages with the same text share it: those
 * of AWS alone would repeat theirs thirty times. @throws if one has no licence
 */
export function bundledLicences(root: string, files: readonly string[]): string {
  const folders = new Set(files.flatMap((path) => packageFolder.exec(path)?.[1] ?? []));
  const licences = [...folders].sort().map((folder) => licenceOf(join(root, folder)));
  const shared = [...Map.groupBy(licences, ({ text }) => text)].map(
    ([text, some]) => `${[...new Set(some.map(({ name }) => name))].join('\n')}\n${text === '' ? '' : `\n${text}\n`}`,
  );
  const intro = 'The programs in this folder contain code of these packages, under the licences below them.\n';
  return [intro, ...shared].join(`\n${'-'.repeat(80)}\n`);
}

type BundledLicence = { readonly name: string; readonly text: string };

/** Not each package has the text in a file of its own. */
function licenceOf(folder: string): BundledLicence {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} ${version} names no licence: it must not be bundled`);
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.|$)/i.test(each));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8').trim();
  return { name: `${name} ${version}: ${license}`, text };
}
