/**
 * What a template of `-o jsonpath` finds in a value, and how it is printed, as kubectl does (k8s.io/client-go
 * util/jsonpath). A missing field is no error, as with kubectl's `--allow-missing-template-keys`. Members are in the
 * order of the value; kubectl's have none.
 */
import { inLine, joined, ownText, type Printable, printedDocument } from '../printing/printable.ts';
import { JsonpathError, type Path, type PathNode, parseTemplate, type TemplateNode } from './parser.ts';

export type Template = readonly TemplateNode[];

/** The maximum number of values after one step of a path. */
const valuesMax = 5_000_000;

/** The text that the template makes of the value. @throws JsonpathError */
export const printTemplate = (template: Template, value: unknown): Printable =>
  joined(
    resultsOf(template, value).map(({ values, isOwn }) =>
      joined(values.map(valueText).map(isOwn ? ownText : inLine), inLine(' ')),
    ),
  );

/** A JSON array for each path, as `-o jsonpath-as-json` prints it. @throws JsonpathError */
export const printAsJson = (template: Template, value: unknown): Printable =>
  joined(resultsOf(template, value).map(({ values }) => printedDocument(`${JSON.stringify(values, null, 4)}\n`)));

/** What the first path of a template finds, such as a column's. @throws JsonpathError */
export const foundBy = (template: Template, value: unknown): readonly unknown[] =>
  resultsOf(template, value)[0]?.values ?? [];

/**
 * `metadata.name`, `.metadata.name` and `{.metadata.name}` mean the same, as for kubectl's columns and `--sort-by`.
 *
 * @throws JsonpathError
 */
export function relaxedTemplate(expression: string): Template {
  const [, braced, bare] = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/.exec(expression) ?? [];
  const path = braced ?? bare;
  if (path === undefined)
    throw new JsonpathError(`${expression} must be a path such as .metadata.name or {.metadata.name}`);
  return parseTemplate(`{.${path}}`);
}

/** `isOwn`: a text of the template itself, which keeps its line breaks. */
type Result = { readonly values: readonly unknown[]; readonly isOwn: boolean };

function resultsOf(template: Template, value: unknown): readonly Result[] {
  return template.flatMap((node) => {
    const values = walked([value], node.path);
    if (node.kind === 'path') return [{ values, isOwn: node.path.at(-1)?.kind === 'literal' }];
    return values.flatMap((each) => resultsOf(node.body, each));
  });
}

const walked = (values: readonly unknown[], path: Path): readonly unknown[] =>
  path.reduce<readonly unknown[]>((current, node) => {
    const next = step(current, node);
    if (next.length > valuesMax) throw new JsonpathError(`the template finds more than ${valuesMax} values`);
    return next;
  }, values);

function step(values: readonly unknown[], node: PathNode): readonly unknown[] {
  switch (node.kind) {
    case 'literal':
      // A text stands for itself, however many values are before it.
      return typeof node.value === 'string' ? [node.value] : values.map(() => node.value);
    case 'field':
      return values.flatMap((value) => (isMap(value) && Object.hasOwn(value, node.name) ? [value[node.name]] : []));
    case 'wildcard':
      return values.flatMap(membersOf);
    case 'recursive':
      return values.flatMap(descendants);
    case 'slice':
      return values.flatMap((value) => (value === null ? [] : sliceOf(listOf(value), node)));
    case 'union':
      return node.paths.flatMap((path) => walked(values, path));
    case 'filter':
      return values.flatMap((value) => listOf(value).filter((each) => passes(each, node)));
    case 'identifier':
      throw new JsonpathError(`unrecognized identifier ${node.name}`);
  }
}

type Members = { readonly [name: string]: unknown };

const isMap = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const membersOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];

/** The value before what it has. For Go a text has bytes, so it is among them. */
function descendants(value: unknown): readonly unknown[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  const members = membersOf(value);
  return members.length === 0 ? [] : [value, ...members.flatMap(descendants)];
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new JsonpathError(`${isMap(value) ? 'an object' : JSON.stringify(value)} is not array or slice`);
}

type Slice = Extract<PathNode, { kind: 'slice' }>;

function sliceOf(list: readonly unknown[], slice: Slice): readonly unknown[] {
  const { length } = list;
  const { isIndex, step: every = 1 } = slice;
  const fromEnd = (bound: number) => (bound < 0 ? bound + length : bound);
  const from = fromEnd(slice.from ?? 0);
  const to = isIndex ? from + 1 : fromEnd(slice.to ?? length);
  if (from === to) return [];
  if (from < 0 || from >= length) throw new JsonpathError(`array index out of bounds: index ${from}, length ${length}`);
  if (to < 0 || to > length) throw new JsonpathError(`array index out of bounds: index ${to - 1}, length ${length}`);
  if (from > to) throw new JsonpathError(`starting index ${from} is greater than ending index ${to}`);
  if (every <= 0) throw new JsonpathError('step must be > 0');
  return list.slice(from, to).filter((_, index) => index % every === 0);
}

type Filter = Extract<PathNode, { kind: 'filter' }>;

function passes(value: unknown, { left, operator, right }: Filter): boolean {
  if (operator === 'exists') return exists(value, left);
  const lefts = walked([value], left);
  const rights = walked([value], right);
  if (lefts.length === 0 || rights.length === 0) return false;
  if (lefts.length > 1 || rights.length > 1) throw new JsonpathError('can only compare one element at a time');
  return compared(lefts[0], operator, rights[0]);
}

/** For kubectl an element of which the path cannot be followed does not have it. */
function exists(value: unknown, path: Path): boolean {
  try {
    return walked([value], path).length > 0;
  } catch (error) {
    if (error instanceof JsonpathError) return false;
    throw error;
  }
}

function compared(left: unknown, operator: string, right: unknown): boolean {
  for (const side of [left, right])
    if (!['boolean', 'number', 'string'].includes(typeof side)) throw new JsonpathError('invalid type for comparison');
  if (typeof left !== typeof right) throw new JsonpathError('incompatible types for comparison');
  if (operator === '==' || operator === '!=') return (left === right) === (operator === '==');
  if (typeof left === 'boolean') throw new JsonpathError('invalid type for comparison');
  const [a, b] = [left, right] as [number, number] | [string, string];
  switch (operator) {
    case '<':
      return a < b;
    case '<=':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

/** As kubectl prints one value: texts as they are, lists and objects as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : `${value}`;
}
