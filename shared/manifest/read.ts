/** The documents of a file of YAML or JSON, with the line and column of everything in them. */
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, type YAMLError } from 'yaml';
import { valueSize } from '../lib/value-size.ts';
import { yamlDocuments } from '../lib/yaml-documents.ts';
import { withOctal } from '../lib/yaml-octal.ts';
import { type AliasesRefusal, aliasesRefusal, tooManyValues } from './aliases.ts';
import { jsonStream } from './json-stream.ts';
import { documentsMax, fileBytesMax, fileDepthMax, fileErrorsMax, valuesMax } from './limits.ts';
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

/** `base`: where its text begins in the file. */
type Parsed = { readonly document: Document.Parsed; readonly base: number; readonly text: string };

/** YAML 1.2 with the merge keys and octal numbers of 1.1, which programs in Go read. */
function parsed(file: string): readonly Parsed[] {
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

function documentsOf(documents: readonly Parsed[], lines: LineCounter): ReadFile {
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
    const read = valuesOf(document, valuesLeft);
    if (read.kind === 'refused')
      return refused(read.offset === undefined ? place : placeAt(lines, base + read.offset), read.detail);
    valuesLeft -= read.values;
    const placeOf = (path: Path) => placeAt(lines, base + offsetOf(document, path));
    if (read.value !== null) sources.push({ value: read.value, placeOf });
  }
  return { kind: 'read', documents: sources };
}

/** Behind the first error of syntax a parser guesses: what it finds there mostly follows from that error. */
function causesOf(errors: readonly YAMLError[]): readonly YAMLError[] {
  const [first] = errors.filter(isSyntax).toSorted((a, b) => a.pos[0] - b.pos[0]);
  if (first === undefined) return errors;
  return errors.filter((error) => error === first || (!isSyntax(error) && error.pos[0] < first.pos[0]));
}

const isSyntax = ({ code }: YAMLError): boolean => code !== 'DUPLICATE_KEY' && code !== 'NON_STRING_KEY';

/** A merge key with its tag, as some programs write it, is no text for the parser, but merges all the same. */
const isMergeTag = ({ code, pos }: YAMLError, text: string): boolean =>
  code === 'NON_STRING_KEY' && /^!!merge\s+<<\s*:/.test(text.slice(pos[0], pos[0] + mergeTagLengthMax));

const mergeTagLengthMax = 40;

type Valued =
  | { readonly kind: 'valued'; readonly value: unknown; readonly values: number }
  | ({ readonly kind: 'refused' } & AliasesRefusal);

function valuesOf(document: Document.Parsed, valuesLeft: number): Valued {
  const refusal = aliasesRefusal(document);
  if (refusal) return { kind: 'refused', ...refusal };
  // The parser's own limit multiplies uses, so that it refuses what people write.
  const value: unknown = document.toJS({ maxAliasCount: -1 });
  const size = valueSize(value, { valuesMax: valuesLeft, depthMax: fileDepthMax });
  if (size.kind === 'counted') return { kind: 'valued', value, values: size.values };
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
