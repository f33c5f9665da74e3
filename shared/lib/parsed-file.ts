/** A small file of the machine's, which may change while the process runs. */
import { readFileSync, statSync } from 'node:fs';
import type { Clock } from './clock.ts';

export type ParsedFileOptions<Content> = {
  readonly path: string;
  readonly clock: Clock;
  /** A longer file is taken for a missing one. */
  readonly bytesMax: number;
  readonly parse: (text: string) => Content;
  readonly missing: Content;
};

/** How long it is believed before it is looked at again, as Go does with its files. */
const ageMaxMs = 5000;

/** What the file says: looked at every 5 s, and read again when its time or size has changed. One that cannot be read is missing. */
export function parsedFile<Content>(options: ParsedFileOptions<Content>): () => Content {
  const { path, clock } = options;
  let content = options.missing;
  let stamp = '';
  let lookAtMs = Number.NEGATIVE_INFINITY;
  const refresh = () => {
    const nextStamp = stampOf(path);
    if (nextStamp === stamp) return;
    content = read(options);
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

function read<Content>({ path, bytesMax, parse, missing }: ParsedFileOptions<Content>): Content {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > bytesMax ? missing : parse(text);
  } catch {
    // The callers' files are conveniences: one that is gone or forbidden leaves what holds without it.
    return missing;
  }
}
