/** A small file of the operating system that may change while the process runs. */
import { readFileSync, statSync } from 'node:fs';
import type { Clock } from './clock.ts';

export type ParsedFileOptions<Content> = {
  readonly path: string;
  readonly clock: Clock;
  /** A longer file counts as missing. */
  readonly bytesMax: number;
  readonly parse: (text: string) => Content;
  readonly missing: Content;
};

/** How long the content is used before the file is checked again; Go's resolver uses the same interval. */
const ageMaxMs = 5000;

/**
 * Returns a function that gives the parsed content. It checks the file at most every 5 s and reads it again when its
 * modification time or size has changed. A file that cannot be read counts as missing; while the process has no free
 * descriptor, the content stays and the next check reads it.
 */
export function parsedFile<Content>(options: ParsedFileOptions<Content>): () => Content {
  const { path, clock } = options;
  let content = options.missing;
  let stamp = '';
  let lookAtMs = Number.NEGATIVE_INFINITY;
  const refresh = () => {
    const nextStamp = stampOf(path);
    if (nextStamp === stamp) return;
    const found = read(options);
    if (found === 'unread') return;
    content = found.content;
    stamp = nextStamp;
  };
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= lookAtMs) {
      lookAtMs = nowMs + ageMaxMs;
      refresh();
    }
    return content;
  };
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size}`;
}

type Read<Content> = { readonly content: Content } | 'unread';

function read<Content>({ path, bytesMax, parse, missing }: ParsedFileOptions<Content>): Read<Content> {
  try {
    const text = readFileSync(path, 'utf8');
    return { content: text.length > bytesMax ? missing : parse(text) };
  } catch (error) {
    if (noDescriptor.has((error as NodeJS.ErrnoException).code ?? '')) return 'unread';
    // These files are optional: without one, the defaults apply.
    return { content: missing };
  }
}

const noDescriptor: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);
