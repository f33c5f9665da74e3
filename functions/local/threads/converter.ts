/** Converts files of targets in a thread of their own, one after the other. The thread lives as long as it is used. */
import { extname } from 'node:path';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { AskedFile, ReadTargets } from '../config/file-targets.ts';
import { AskedThread } from './asked-thread.ts';

export type Converter = {
  /** Never throws. When the signal is aborted, the answer no longer matters. */
  convert(asked: AskedFile, signal: AbortSignal): Promise<ReadTargets>;
  close(): Promise<void>;
};

/** A file of the largest size takes some 20 s. */
const convertMsMax = 120_000;
/** A parsed file takes a hundred times its size. */
const heapMbMax = 1_024;

/** This module and the thread's end alike: in `.ts` in a clone, in `.js` in the npm package. */
const url = new URL(`./convert-thread${extname(import.meta.filename)}`, import.meta.url);

export function targetConverter(clock: Clock): Converter {
  const thread = new AskedThread<AskedFile, ReadTargets>({ url, heapMbMax, msMax: convertMsMax, clock });
  return {
    async convert(asked, signal) {
      const answer = await thread.ask(asked, signal);
      if (answer.kind !== 'none') return answer;
      const error = { file: asked.name, line: 1, column: 1, detail: answer.detail };
      return { kind: 'invalid', errors: [error], isUnread: true };
    },
    close: () => thread.end(),
  };
}
