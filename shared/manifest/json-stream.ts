/**
 * Values of JSON one after the other, a line each or not, as `kubectl get -o json`, `jq` and logs write them. As YAML
 * such a text is a mistake.
 */

export type Chunk = { readonly text: string; readonly offset: number };

/** The closing quote is optional: a search that fails without it would start again at each later quote. */
const token = /"(?:[^"\\]|\\.)*"?|[{}[\]]|[^\s{}[\]"]+/gs;

/** Undefined: it is no such stream, but one value or another format. Whether each value is JSON is for its parser. */
export function jsonStream(text: string): readonly Chunk[] | undefined {
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
