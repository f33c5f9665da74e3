/** Converts files of targets in a thread of their own, one after the other. The thread lives as long as it is used. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../shared/lib/clock.ts';
import type { AskedFile, ReadTargets } from './convert-thread.ts';

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
const threadUrl = new URL(`./convert-thread${extname(import.meta.filename)}`, import.meta.url);

export function targetConverter(clock: Clock): Converter {
  let thread: Worker | undefined;
  const end = async () => {
    const ending = thread;
    thread = undefined;
    await ending?.terminate();
  };
  return {
    async convert(asked, signal) {
      thread ??= startedThread();
      const answer = await answerOf(thread, asked, { clock, signal });
      if (answer.kind === 'read' || answer.kind === 'invalid') return answer;
      await end();
      return { kind: 'invalid', errors: [{ file: asked.name, line: 1, column: 1, detail: answer.detail }] };
    },
    close: end,
  };
}

function startedThread(): Worker {
  const thread = new Worker(threadUrl, { resourceLimits: { maxOldGenerationSizeMb: heapMbMax } });
  // An error of a thread that is being ended must not end the process.
  return thread.on('error', () => undefined);
}

type Answer = ReadTargets | { readonly kind: 'none'; readonly detail: string };

type Waiting = { readonly clock: Clock; readonly signal: AbortSignal };

function answerOf(thread: Worker, asked: AskedFile, { clock, signal }: Waiting): Promise<Answer> {
  return new Promise((resolve) => {
    const settle = (answer: Answer) => {
      cancel();
      signal.removeEventListener('abort', stopped);
      thread.off('message', settle).off('error', failed).off('exit', ended);
      resolve(answer);
    };
    const none = (detail: string) => settle({ kind: 'none', detail });
    const stopped = () => none('was not converted before the stop');
    const failed = (error: Error) => none(`cannot be converted: ${error.message}`);
    const ended = () => none('cannot be converted: the thread has ended');
    const cancel = clock.setTimer(convertMsMax, () => none(`takes longer than ${convertMsMax / 1_000} s to convert`));
    signal.addEventListener('abort', stopped);
    thread.on('message', settle).on('error', failed).on('exit', ended);
    if (signal.aborted) stopped();
    else thread.postMessage(asked);
  });
}
