/** What `-o` asks for: a wider table, documents, names, or what the paths of a template find. */
import { readFileSync, statSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { readFault } from '../../../shared/lib/bounded-file.ts';
import {
  foundBy,
  printAsJson,
  printTemplate,
  relaxedTemplate,
  type Template,
  valueText,
} from '../jsonpath/jsonpath.ts';
import { JsonpathError, parseTemplate } from '../jsonpath/parser.ts';
import { CliError } from '../words/exit-codes.ts';
import type { Printable } from './printable.ts';
import type { Row } from './tables.ts';

export type DocumentFormat = 'yaml' | 'json' | 'name';

export type Output =
  | { readonly kind: 'wide' }
  | { readonly kind: 'document'; readonly format: DocumentFormat }
  /** A template for one object, or for a list as a whole. */
  | { readonly kind: 'template'; readonly print: (value: unknown) => Printable }
  | { readonly kind: 'columns'; readonly columns: readonly Column[] };

type Column = { readonly head: string; readonly template: Template };

const documentFormats: readonly DocumentFormat[] = ['yaml', 'json', 'name'];
const templateFormats: { readonly [name: string]: (argument: string) => Output } = {
  jsonpath: (text) => templateOutput(text, printTemplate),
  'jsonpath-as-json': (text) => templateOutput(text, printAsJson),
  'jsonpath-file': (path) => templateOutput(fileText(path), printTemplate),
  'custom-columns': (spec) => ({ kind: 'columns', columns: columnsOf(spec.split(',').map((each) => pairOf(each))) }),
  'custom-columns-file': (path) => ({ kind: 'columns', columns: columnsOf(pairsIn(fileText(path))) }),
};

const templateBytesMax = 64 * 1024;

/** `formats`: those without an argument. */
export const outputOption = (formats: readonly ('wide' | DocumentFormat)[]): Option => {
  const words = [...formats, ...Object.keys(templateFormats).map((name) => `${name}=`)];
  // The choices are for the help and the completion; the words with an argument are parsed here.
  return new Option('-o, --output <format>', 'format').choices(words).argParser((text) => outputOf(text, formats));
};

function outputOf(text: string, formats: readonly ('wide' | DocumentFormat)[]): Output {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  const made = Object.hasOwn(templateFormats, name) ? templateFormats[name] : undefined;
  if (made) {
    const argument = at < 0 ? '' : text.slice(at + 1);
    if (argument === '') throw new InvalidArgumentError(`${name} needs what to print, as in ${exampleOf(name)}`);
    return refused(() => made(argument));
  }
  const known = formats.find((each) => each === text);
  if (known === 'wide') return { kind: 'wide' };
  const format = documentFormats.find((each) => each === known);
  if (format) return { kind: 'document', format };
  const choices = [...formats, ...Object.keys(templateFormats).map((each) => `${each}=…`)];
  throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
}

function exampleOf(name: string): string {
  if (name.endsWith('-file')) return `${name}=FILE`;
  return name === 'custom-columns' ? 'custom-columns=NAME:.metadata.name' : `${name}='{.metadata.name}'`;
}

/** @throws InvalidArgumentError for what is wrong with a template */
function refused<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (error instanceof JsonpathError) throw new InvalidArgumentError(`${error.message}.`);
    throw error;
  }
}

function templateOutput(text: string, print: (template: Template, value: unknown) => Printable): Output {
  // kubectl prints such a text as it is, whatever the object.
  if (!text.includes('{')) throw new InvalidArgumentError(`a path stands in braces, as in '{${text}}'`);
  const template = parseTemplate(text);
  return { kind: 'template', print: (value) => printed(() => print(template, value)) };
}

/** @throws CliError where the template does not fit the value */
function printed<Found>(find: () => Found): Found {
  try {
    return find();
  } catch (error) {
    if (error instanceof JsonpathError) throw new CliError(`the template cannot be printed: ${error.message}`);
    throw error;
  }
}

type Pair = readonly [head: string, path: string];

function pairOf(text: string): Pair {
  const at = text.indexOf(':');
  if (at <= 0) throw new InvalidArgumentError(`${text} must be HEAD:PATH, as in NAME:.metadata.name`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Heads on the first line, paths on the second. */
function pairsIn(text: string): readonly Pair[] {
  const [heads = [], paths = []] = text.split('\n').map((line) => line.split(/\s+/).filter((word) => word !== ''));
  if (heads.length === 0 || heads.length !== paths.length)
    throw new InvalidArgumentError('the file must have as many heads on its first line as paths on its second');
  return heads.map((head, index) => [head, paths[index] ?? '']);
}

const columnsOf = (pairs: readonly Pair[]): readonly Column[] =>
  pairs.map(([head, path]) => ({ head, template: relaxedTemplate(path) }));

export const columnsHead = (columns: readonly Column[]): Row => columns.map(({ head }) => head);

export const columnsRow = (columns: readonly Column[], value: unknown): Row =>
  columns.map(({ template }) => {
    const found = printed(() => foundBy(template, value));
    return found.length === 0 ? '<none>' : found.map((each) => (each === null ? '<none>' : valueText(each))).join(',');
  });

function fileText(path: string): string {
  try {
    if (statSync(path).size <= templateBytesMax) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidArgumentError(`${path} ${readFault(error)}`);
  }
  throw new InvalidArgumentError(`${path} has more than ${templateBytesMax} bytes`);
}
