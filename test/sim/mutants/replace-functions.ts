/**
 * Replaces functions where they are defined, as their files are loaded. The text of the file is changed: the function
 * gets another name, and a function of its old name, which calls the replacement, is appended. So calls within the file
 * reach the replacement as well.
 */
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Edit, loadEdited, sourceOf } from '../../support/edited-source.ts';
import { enterReplacement, type Replacement } from './replacement.ts';

const projectPath = fileURLToPath(new URL('../../../', import.meta.url));
const registry = JSON.stringify(new URL('./replacement.ts', import.meta.url).href);

/** To be called before any of the files is loaded. @throws Error: a name is missing, ambiguous or replaced twice. */
export function replaceFunctions(replacements: readonly Replacement[]): void {
  loadEdited(
    replacements.flatMap((replacement) => {
      const definition = definitionOf(replacement);
      enterReplacement(placeOf(definition), replacement);
      return editsOf(definition);
    }),
  );
}

type Definition = {
  readonly file: string;
  readonly name: string;
  readonly isExported: boolean;
  /** Where its name begins. */
  readonly at: number;
};

const placeOf = ({ file, name }: Definition): string => `${file}#${name}`;

/** Only functions of a module count, which begin a line. @throws Error: the name is missing or ambiguous. */
export function definitionOf({ name, files }: Pick<Replacement, 'name' | 'files'>): Definition {
  const pattern = new RegExp(`^(export )?(?:(?:async )?function|const) (?=${name}\\b)`, 'gm');
  const found = globSync(files, { cwd: projectPath }).flatMap((file) =>
    [...sourceOf(file).matchAll(pattern)].map(({ 0: before, 1: exported, index }): Definition => {
      return { file, name, isExported: exported !== undefined, at: index + before.length };
    }),
  );
  const [definition, ...others] = found;
  if (definition && others.length === 0) return definition;
  throw new Error(`'${name}' has to name one function: ${found.map(placeOf).join(', ') || 'there is none'}`);
}

function editsOf(definition: Definition): readonly Edit[] {
  const { file, name, isExported, at } = definition;
  const [original, replaced] = [`${name}$original`, `${name}$replaced`];
  const end = sourceOf(file).length;
  const caller = [
    `import { replaced as ${replaced} } from ${registry};`,
    `${isExported ? 'export ' : ''}function ${name}(...args) {`,
    `return ${replaced}(${JSON.stringify(placeOf(definition))}, ${original})(...args); }`,
  ];
  return [
    { file, start: at, end: at + name.length, replacement: original },
    { file, start: end, end, replacement: `${caller.join(' ')}\n` },
  ];
}
