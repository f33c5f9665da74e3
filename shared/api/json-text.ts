/** JSON text to a value, stricter than `JSON.parse`: a repeated key is an error, and nesting is bounded. */

/** `documents`: the documents of a body; JSON is always one. */
export type ParsedDocuments =
  | { readonly kind: 'parsed'; readonly documents: readonly unknown[] }
  | { readonly kind: 'malformed'; readonly reason: string };

/** No manifest nests half as deep, and code that walks a body may recurse. */
export const depthMax = 32;

export function parseJson(text: string): ParsedDocuments {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { kind: 'malformed', reason: error instanceof SyntaxError ? error.message : 'not JSON' };
  }
  const reason = structureProblem(text);
  return reason === undefined ? { kind: 'parsed', documents: [value] } : { kind: 'malformed', reason };
}

/** The closing quote is optional: a search that fails without it would start again at each later quote. */
const token = /"(?:[^"\\]|\\.)*"?|[{}[\]:]/gs;

/** For well-formed JSON. A colon outside a string always follows a key. */
function structureProblem(text: string): string | undefined {
  const open: Set<string>[] = [];
  let lastString = '""';
  for (const [found] of text.matchAll(token)) {
    if (found === '{' || found === '[') open.push(new Set());
    else if (found === '}' || found === ']') open.pop();
    else if (found === ':') {
      const key: string = JSON.parse(lastString);
      if (open.at(-1)?.has(key)) return `duplicate key ${JSON.stringify(key)}`;
      open.at(-1)?.add(key);
    } else lastString = found;
    if (open.length > depthMax) return `nested deeper than ${depthMax}`;
  }
  return undefined;
}
