/**
 * Puts other functions in the place of some where they are defined, as their files are loaded. Each gets another name, and the end of its
 * file a function that has its name and calls the replacement: so calls within the file come to the replacement, too.
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

/** Functions within functions begin further right: their names may be those of others. @throws Error: not exactly one function has the name. */
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
