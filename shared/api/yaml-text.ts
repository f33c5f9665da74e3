/** YAML text to a plain JSON value: one document, YAML 1.2 core schema, unique keys, bounded aliases and nesting. */
import { parseAllDocuments } from 'yaml';
import { depthMax, type Parsed } from './json-text.ts';
import { hasLostFields, isOneLine, newlinesHint } from './lost-newlines.ts';

/** Aliases are for anchors in a manifest, not for multiplying it. */
const aliasCountMax = 100;
/** What a body of 64 KiB may become once its aliases are expanded. */
const nodesMax = 20_000;

/** The reason why a text of one line cannot be parsed says as well how its line breaks may have been lost. */
export function parseYaml(text: string): Parsed {
  const parsed = parsedOrMalformed(text);
  if (parsed.kind === 'malformed') return isOneLine(text) ? malformed(`${parsed.reason}; ${newlinesHint}`) : parsed;
  return hasLostFields(text, parsed.value) ? malformed(newlinesHint) : parsed;
}

function parsedOrMalformed(text: string): Parsed {
  try {
    return parsedDocument(text);
  } catch (error) {
    // Thrown for too many aliases, and when flow collections nest deeper than the stack.
    return malformed(error instanceof Error ? error.message : 'not YAML');
  }
}

function parsedDocument(text: string): Parsed {
  const documents = parseAllDocuments(text, {
    uniqueKeys: true,
    stringKeys: true,
    prettyErrors: false,
    logLevel: 'silent',
  });
  if ('empty' in documents) return { kind: 'parsed', value: null };
  const [document, ...others] = documents;
  const error = documents.find((each) => each.errors.length > 0)?.errors[0];
  if (error) return malformed(`${error.message} (at character ${error.pos[0]})`);
  if (others.length > 0) return malformed('more than one document');
  const value: unknown = document?.toJS({ maxAliasCount: aliasCountMax });
  const reason = sizeTrouble(value);
  return reason === undefined ? { kind: 'parsed', value } : malformed(reason);
}

const malformed = (reason: string): Parsed => ({ kind: 'malformed', reason });

function sizeTrouble(root: unknown): string | undefined {
  const pending: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 0 }];
  let nodes = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    nodes += 1;
    if (nodes > nodesMax) return `more than ${nodesMax} values`;
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth >= depthMax) return `nested deeper than ${depthMax}`;
    for (const value of Object.values(next.value)) pending.push({ value, depth: next.depth + 1 });
  }
  return undefined;
}
