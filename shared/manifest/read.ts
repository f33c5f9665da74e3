/**
 * The documents of a file of YAML or JSON, with the line and column of everything in them.
 *
 * One parser reads everything, because JSON is YAML; only a stream of JSON values has to be cut first. The file may be
 * of any origin, so its cost is bounded before each costly step: bytes before parsing, documents while parsing, aliases
 * before they are followed, values and depth after. Errors name places and do not quote the file.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  visit,
  type YAMLError,
} from 'yaml';
import { valueSize } from '../lib/json.ts';
import { withOctal, yamlDocuments } from '../lib/yaml-documents.ts';
import { aliasesMax, documentsMax, fileBytesMax, fileDepthMax, fileErrorsMax, valuesMax } from './limits.ts';
import type { Path, Place, SourceDocument } from './manifest.ts';

export type FileProblem = Place & { readonly detail: string };

export type ReadFile =
  | { readonly kind: 'read'; readonly documents: readonly SourceDocument[] }
  | { readonly kind: 'unreadable'; readonly problems: readonly FileProblem[] };

/** Empty documents are left out. A file that cannot be parsed as a whole has no documents. */
export function readFile(text: string): ReadFile {
  if (Buffer.byteLength(text) > fileBytesMax) return refused(start, `has more than ${fileBytesMax} bytes`);
  try {
    return documentsOf(parsed(text), linesOf(text));
  } catch (error) {
    // Thrown when flow collections nest deeper than the stack, and for an anchor that is merged into itself.
    return refused(start, messageOf(error));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'not YAML');

/**
 * A text of the parser without what it quotes of the file. A folder of targets may have a link to a file that has
 * nothing to do with it, and the log has other readers.
 */
const unquoted = (message: string): string =>
  message
    .replace(/^(Block scalar header includes extra characters|Unsupported YAML version)\b.*$/s, '$1')
    .replace(/: "(?:[^"\\]|\\.)*"$/s, '');

const start: Place = { line: 1, column: 1 };

const refused = (place: Place, detail: string): ReadFile => ({ kind: 'unreadable', problems: [{ ...place, detail }] });

/** `base`: the offset of its text in the file. */
type ParsedDocument = { readonly document: Document.Parsed; readonly base: number; readonly text: string };

/** YAML 1.2 with the merge keys and octal numbers of 1.1, which programs in Go read. */
function parsed(file: string): readonly ParsedDocument[] {
  const options = {
    documentsMax,
    stringKeys: true,
    merge: true,
    customTags: withOctal,
    prettyErrors: false,
    logLevel: 'silent',
  } as const;
  return (jsonStream(file) ?? [{ text: file, offset: 0 }]).flatMap(({ text, offset: base }) =>
    yamlDocuments(text, options).map((document) => ({ document, base, text })),
  );
}

function linesOf(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function documentsOf(documents: readonly ParsedDocument[], lines: LineCounter): ReadFile {
  const problems = documents
    .flatMap((each) =>
      causesOf(each.document.errors.filter((error) => !isMergeTag(error, each.text))).map((error) => ({ each, error })),
    )
    .slice(0, fileErrorsMax)
    .map(({ each, error: { message, pos } }) => ({ ...placeAt(lines, each.base + pos[0]), detail: unquoted(message) }));
  if (problems.length > 0) return { kind: 'unreadable', problems };
  if (documents.length > documentsMax) return refused(start, `has more than ${documentsMax} documents`);
  const sources: SourceDocument[] = [];
  let valuesLeft = valuesMax;
  for (const { document, base } of documents) {
    const place = placeAt(lines, base + offsetOf(document, []));
    const read = readValue(document, valuesLeft);
    if (read.kind === 'refused')
      return refused(read.offset === undefined ? place : placeAt(lines, base + read.offset), read.detail);
    valuesLeft -= read.values;
    const placeOf = (path: Path) => placeAt(lines, base + offsetOf(document, path));
    if (read.value !== null) sources.push({ value: read.value, placeOf });
  }
  return { kind: 'read', documents: sources };
}

/** The errors up to the first one of syntax: most of what a parser finds after it follows from that error. */
function causesOf(errors: readonly YAMLError[]): readonly YAMLError[] {
  const [first] = errors.filter(isSyntax).toSorted((a, b) => a.pos[0] - b.pos[0]);
  if (first === undefined) return errors;
  return errors.filter((error) => error === first || (!isSyntax(error) && error.pos[0] < first.pos[0]));
}

const isSyntax = ({ code }: YAMLError): boolean => code !== 'DUPLICATE_KEY' && code !== 'NON_STRING_KEY';

/** The parser refuses a merge key with its tag, as some programs write it, as a key that is not text, but merges it. */
const isMergeTag = ({ code, pos }: YAMLError, text: string): boolean =>
  code === 'NON_STRING_KEY' && /^!!merge\s+<<\s*:/.test(text.slice(pos[0], pos[0] + mergeTagLengthMax));

const mergeTagLengthMax = 40;

function readValue(
  document: Document.Parsed,
  valuesLeft: number,
):
  | { readonly kind: 'value'; readonly value: unknown; readonly values: number }
  | ({ readonly kind: 'refused' } & AliasesRefusal) {
  const refusal = aliasesRefusal(document);
  if (refusal) return { kind: 'refused', ...refusal };
  // The parser's own limit multiplies uses, so that it refuses what people write.
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  const size = valueSize(value, { valuesMax: valuesLeft, depthMax: fileDepthMax });
  if (size.kind === 'counted') return { kind: 'value', value, values: size.values };
  return { kind: 'refused', detail: size.kind === 'tooDeep' ? `nests deeper than ${fileDepthMax}` : tooManyValues };
}

function placeAt(lines: LineCounter, offset: number): Place {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

/** Follows aliases. A path that leads through a merge key ends at the object that has the key. */
function offsetOf(document: Document.Parsed, path: Path): number {
  let node: unknown = document.contents;
  let offset = document.contents?.range?.[0] ?? document.range[0];
  for (const token of path) {
    const found = memberOf(isAlias(node) ? node.resolve(document) : node, token);
    if (!found) return offset;
    offset = found.offset ?? offset;
    node = found.node;
  }
  return offset;
}

type Member = { readonly node: unknown; readonly offset: number | undefined };

function memberOf(node: unknown, token: string | number): Member | undefined {
  if (isSeq(node)) {
    const item = node.items[Number(token)];
    return item === undefined ? undefined : { node: item, offset: offsetIn(item) };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(token));
  return pair && { node: pair.value, offset: offsetIn(pair.key) };
}

const offsetIn = (node: unknown): number | undefined => (isNode(node) ? (node as Node).range?.[0] : undefined);

// Aliases are bounded before they are followed. The parser shares an object that aliases use, but reads the source of a
// merge key again for each use, and so the merge keys within it: a few lines can ask for more work than any machine
// does.

/** `offset`: of the alias that is to blame, in the document's text. */
type AliasesRefusal = { readonly detail: string; readonly offset?: number };

/**
 * Why the aliases of a document may not be followed; undefined: they may. An alias is named by its place alone, because
 * the reader of the error may not be meant to read the file.
 */
function aliasesRefusal(document: Document.Parsed): AliasesRefusal | undefined {
  const aliases: Alias[] = [];
  const anchors = new Map<Alias, unknown>();
  const last = new Map<string, unknown>();
  visit(document, {
    Alias: (_, alias) => {
      aliases.push(alias);
      anchors.set(alias, last.get(alias.source));
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) last.set(node.anchor, node);
    },
  });
  if (aliases.length > aliasesMax)
    return { detail: `uses anchors ${aliases.length} times: a document may ${aliasesMax} times` };
  if (aliases.length === 0) return undefined;
  const unset = aliases.find((alias) => anchors.get(alias) === undefined);
  if (unset) return { detail: 'an alias needs an anchor of its name before it', offset: unset.range?.[0] ?? 0 };
  const isTooMuch = new Reading(anchors).valuesOf(document.contents) > valuesMax;
  return isTooMuch ? { detail: tooManyValues } : undefined;
}

const tooManyValues = `has more than ${valuesMax} values, aliases included`;

/** Counts the values that are read. */
class Reading {
  readonly #anchors: ReadonlyMap<Alias, unknown>;
  readonly #counted = new Map<unknown, number>();

  constructor(anchors: ReadonlyMap<Alias, unknown>) {
    this.#anchors = anchors;
  }

  valuesOf(node: unknown): number {
    if (isPair(node)) return 1 + (isMerge(node) ? this.#merged(node.value) : this.valuesOf(node.value));
    if (!isCollection(node)) return 1;
    const known = this.#counted.get(node);
    if (known !== undefined) return known;
    // Until it is counted: an object that is merged into itself has no end.
    this.#counted.set(node, Number.POSITIVE_INFINITY);
    const values = node.items.reduce<number>((sum, item) => sum + this.valuesOf(item), 1);
    this.#counted.set(node, values);
    return values;
  }

  #merged(source: unknown): number {
    const node = isAlias(source) ? this.#anchors.get(source) : source;
    if (isSeq(node)) return node.items.reduce<number>((sum, item) => sum + this.#merged(item), 1);
    return isMap(node) ? this.valuesOf(node) : 1;
  }
}

const isMerge = ({ key }: Pair): boolean => key === '<<' || (isScalar(key) && key.value === '<<');

// Values of JSON one after the other, a line each or not, as `kubectl get -o json`, `jq` and logs write them. As YAML
// such a text is a mistake.

type Chunk = { readonly text: string; readonly offset: number };

/** The closing quote is optional: a search that fails without it would start again at each later quote. */
const token = /"(?:[^"\\]|\\.)*"?|[{}[\]]|[^\s{}[\]"]+/gs;

/** Undefined: it is no such stream, but one value or another format. Whether each value is JSON is for its parser. */
function jsonStream(text: string): readonly Chunk[] | undefined {
  if (!/^[\s\uFEFF]*[{[]/.test(text)) return undefined;
  const chunks: Chunk[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: found, index } of text.matchAll(token)) {
    const change = changes[found] ?? 0;
    if (depth === 0 && change === 1) start = index;
    if (depth === 0 && change !== 1 && found !== '\uFEFF') return undefined;
    depth += change;
    if (depth === 0 && change === -1) chunks.push({ text: text.slice(start, index + 1), offset: start });
  }
  return depth === 0 && chunks.length > 1 ? chunks : undefined;
}

const changes: { readonly [token: string]: number } = { '{': 1, '[': 1, '}': -1, ']': -1 };
