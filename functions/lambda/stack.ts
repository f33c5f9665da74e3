/**
 * Maps stack traces to the source. Node can do this with `--enable-source-maps`, but then reads the 1 MB map at each
 * cold start, which takes 13 ms of CPU. This module reads it when the first error is logged.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The bundle that contains this module. */
const bundleUrl = import.meta.url;

let map: SourceMap | 'none' | undefined;

/**
 * Replaces positions in the bundle by positions in the source. Leaves other text unchanged, and everything if there is
 * no map.
 */
export function sourceStack(stack: string, url: string = bundleUrl): string {
  if (!stack.includes(url)) return stack;
  map ??= sourceMap(url);
  if (map === 'none') return stack;
  return stack.split(url).map(inSource(map, url)).join('');
}

/** The text after the URL begins with `:line:column`, both counted from 1. */
const inSource = (known: SourceMap, url: string) => (part: string, index: number) => {
  if (index === 0) return part;
  const [place, line, column] = /^:(\d+):(\d+)/.exec(part) ?? [];
  if (place === undefined) return `${url}${part}`;
  const entry = known.findEntry(Number(line) - 1, Number(column) - 1);
  if (!('originalSource' in entry)) return `${url}${part}`;
  const { originalSource, originalLine, originalColumn } = entry;
  return `${originalSource}:${originalLine + 1}:${originalColumn + 1}${part.slice(place.length)}`;
};

function sourceMap(url: string): SourceMap | 'none' {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')));
  } catch {
    return 'none';
  }
}
