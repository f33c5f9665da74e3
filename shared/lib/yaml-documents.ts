/**
 * Documents of YAML, in a time that grows with the text and not with its square. The parser's own check for unique keys
 * compares each key with all before it, and behind a mark that fits nowhere it finds a mistake in every character: so
 * keys are checked here, and the text ends with such a mark.
 */
import {
  Composer,
  type CST,
  type Document,
  type DocumentOptions,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type ParseOptions,
  Parser,
  type ScalarTag,
  type SchemaOptions,
  type Tags,
  YAMLParseError,
} from 'yaml';

export type YamlOptions = Omit<ParseOptions & DocumentOptions & SchemaOptions, 'uniqueKeys' | 'lineCounter'> & {
  /** Empty ones count, too. Reading ends with the first one more. */
  readonly documentsMax: number;
  /** Tokens of the text. The parser keeps each, so this bounds its memory and time. Default: any number. */
  readonly tokensMax?: number;
};

/** Repeated keys that are reported for one document. */
const repeatedMax = 100;

/** With the mistakes of each among its errors, in the order of the text. @throws RangeError for too many tokens */
export function yamlDocuments(text: string, options: YamlOptions): readonly Document.Parsed[] {
  const { documentsMax, tokensMax = Number.POSITIVE_INFINITY, ...parserOptions } = options;
  const composer = new Composer({ ...parserOptions, uniqueKeys: false });
  const documents: Document.Parsed[] = [];
  let isBroken = false;
  for (const token of tokensOf(text, tokensMax)) {
    for (const document of composer.next(token)) documents.push(document);
    isBroken = token.type === 'error';
    if (isBroken || documents.length > documentsMax) break;
  }
  for (const document of composer.end(isBroken, text.length)) documents.push(document);
  for (const document of documents) {
    const repeated = repeatedKeys(document.contents);
    document.errors.push(...repeated);
    if (repeated.length > 0) document.errors.sort((a, b) => a.pos[0] - b.pos[0]);
  }
  return documents;
}

/** Tokens of the parser's concrete syntax. @throws RangeError at the first token of the text beyond the limit */
function* tokensOf(text: string, tokensMax: number): Generator<CST.Token> {
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    count += 1;
    if (count > tokensMax) throw new RangeError(`more than ${tokensMax} tokens (at character ${parser.offset})`);
    yield* parser.next(lexeme);
  }
  yield* parser.end();
}

function repeatedKeys(contents: unknown): readonly YAMLParseError[] {
  const errors: YAMLParseError[] = [];
  const pending: unknown[] = [contents];
  while (pending.length > 0 && errors.length < repeatedMax) {
    const node = pending.pop();
    if (isSeq(node)) for (const item of node.items) pending.push(item);
    if (!isMap(node)) continue;
    const seen = new Set<unknown>();
    for (const { key, value } of node.items) {
      pending.push(value);
      if (!isScalar(key)) pending.push(key);
      else if (seen.has(key.value) && errors.length < repeatedMax) errors.push(repeatedKey(key.range?.[0] ?? 0));
      else seen.add(key.value);
    }
  }
  return errors;
}

/** As the parser says it. */
const repeatedKey = (at: number): YAMLParseError =>
  new YAMLParseError([at, at + 1], 'DUPLICATE_KEY', 'Map keys must be unique');

// Whole numbers of YAML with a leading zero, as programs in Go read them.

/** YAML 1.2 writes 0o10 for 8, and Kubernetes, Compose and Gatus also read 010 so, as YAML 1.1 does. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  test: /^[-+]?0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

/** Before the tags of the schema, of which the first one that fits counts. */
export const withOctal = (tags: Tags): Tags => [octal, ...tags];
