/**
 * YAML text to plain JSON values, one a document: YAML 1.2 core schema, 010 as in 1.1, unique keys, bounded aliases and
 * nesting.
 */
import { type Document, isScalar, Lexer, visit } from 'yaml';
import { valueSize } from '../../lib/json.ts';
import { withOctal, yamlDocuments } from '../../lib/yaml-documents.ts';
import { depthMax, type ParsedDocuments, valuesMax } from './json.ts';

/** Enough for anchors that a manifest uses again, too few to multiply it. */
const aliasCountMax = 100;
/** Uses of anchors in one document. For each the parser looks at all anchors before it. */
const aliasesMax = 1_000;
/** Empty documents count, because the parser makes each of them. */
const documentsMax = 1_000;

/** One token for two characters of the largest text. No manifest has more, only a text made to be costly. */
const tokensMax = 32 * 1024;

/**
 * Empty documents are left out, as in Kubernetes. If a text of one line cannot be parsed, the reason also mentions how
 * its line breaks may have been lost.
 */
export function parseYaml(text: string): ParsedDocuments {
  const parsed = parsedOrMalformed(text);
  if (parsed.kind === 'malformed') return isOneLine(text) ? malformed(`${parsed.reason}; ${newlinesHint}`) : parsed;
  return hasLostFields(text, parsed.documents[0]) ? malformed(newlinesHint) : parsed;
}

function parsedOrMalformed(text: string): ParsedDocuments {
  try {
    return parsedDocuments(text);
  } catch (error) {
    // Thrown for too many tokens or aliases, and when flow collections nest deeper than the stack.
    return malformed(error instanceof Error ? error.message : 'not YAML');
  }
}

function parsedDocuments(text: string): ParsedDocuments {
  const documents = yamlDocuments(text, {
    documentsMax,
    tokensMax,
    stringKeys: true,
    customTags: withOctal,
    prettyErrors: false,
    logLevel: 'silent',
  });
  if (documents.length > documentsMax) return malformed(`more than ${documentsMax} documents, empty ones included`);
  const reason = whyMalformed(documents);
  if (reason !== undefined) return malformed(reason);
  const values: unknown[] = [];
  // Aliases count as copies.
  let valuesLeft = valuesMax;
  for (const document of documents) {
    if (aliasesIn(document) > aliasesMax) return malformed(`more than ${aliasesMax} aliases`);
    const value: unknown = document.toJS({ maxAliasCount: aliasCountMax });
    const size = valueSize(value, { valuesMax: valuesLeft, depthMax });
    if (size.kind === 'tooMany') return malformed(`more than ${valuesMax} values`);
    if (size.kind === 'tooDeep') return malformed(`nested deeper than ${depthMax}`);
    valuesLeft -= size.values;
    if (value !== null) values.push(value);
  }
  return { kind: 'parsed', documents: values };
}

function aliasesIn(document: Document.Parsed): number {
  let count = 0;
  visit(document, {
    Alias: () => {
      count += 1;
    },
  });
  return count;
}

/** For several documents it names the position; empty documents do not count. */
function whyMalformed(documents: readonly Document.Parsed[]): string | undefined {
  const wrong = documents.findIndex(({ errors }) => errors.length > 0);
  const error = documents[wrong]?.errors[0];
  if (!error) return undefined;
  const count = documents.slice(0, wrong).filter((each) => !isEmpty(each)).length;
  return `${documents.length > 1 ? `document ${count}: ` : ''}${error.message} (at character ${error.pos[0]})`;
}

const isEmpty = ({ contents }: Document.Parsed): boolean =>
  contents === null || (isScalar(contents) && contents.value === null);

type Malformed = Extract<ParsedDocuments, { readonly kind: 'malformed' }>;

const malformed = (reason: string): Malformed => ({ kind: 'malformed', reason });

// curl -d @file strips the line breaks of a file. What is left seldom parses; if it does, fields may be missing.

const newlinesHint =
  'the body is one line, as if its line breaks were lost: curl -d @file strips them, --data-binary @file keeps them';

/** One line break at the end shows that line breaks were not stripped. */
const isOneLine = (text: string): boolean => !/[\r\n]/.test(text);

/** Whether a text of one line has lost fields although it parses, namely as `value`. */
const hasLostFields = (text: string, value: unknown): boolean =>
  isOneLine(text) && (hasField(commentOf(text)) || typeof value === 'string' || keysOf(value).some(isJoined));

/** The comment or directive that occupies the rest of the line. */
function commentOf(text: string): string {
  for (const token of new Lexer().lex(text)) if (/^[#%]/.test(token)) return token;
  return '';
}

const hasField = (comment: string): boolean => /[\w"'}\]]:(\s|$)/.test(comment);

const keysOf = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];

/** No field of a body has such a name: a document marker or another field has been joined to this one. */
const isJoined = (key: string): boolean => /^---|:/.test(key);
