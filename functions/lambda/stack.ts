/**
 * Stacks as the source has them. Node can do it by itself (`--enable-source-maps`), but then it reads the map of a megabyte at each cold
 * start, 13 ms of CPU; here it is read with the first error that is logged.
 */
import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The bundle that this is part of. */
const bundleUrl = import.meta.url;

let map: SourceMap | 'none' | undefined;

/** Lines of the bundle become lines of the source; any other stays as it is, and so does everything where there is no map. */
export function sourceStack(stack: string, url: string = bundleUrl): string {
  if (!stack.includes(url)) return stack;
  map ??= sourceMap(url);
  if (map === 'none') return stack;
  return stack.split(url).map(inSource(map, url)).join('');
}

/** What follows the URL begins with `:line:column`, both from 1. */
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
