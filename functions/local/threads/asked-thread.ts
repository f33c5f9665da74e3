/**
 * A thread that answers questions, one after the other. The first question starts it; one that fails or takes too long
 * is ended, and the next question starts another.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../shared/lib/clock.ts';

export type ThreadOptions = {
  /** Of the module that it runs. */
  readonly url: URL;
  readonly heapMbMax: number;
  /** For one question. */
  readonly msMax: number;
  readonly clock: Clock;
};

/** `detail`: why, behind what was asked for. */
export type NoAnswer = { readonly kind: 'none'; readonly detail: string };

export class AskedThread<Asked, Answer extends { readonly kind: string }> {
  readonly #options: ThreadOptions;
  #thread: Worker | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Never rejects. When the signal is aborted, the answer no longer matters. Call it again once it has resolved. */
  async ask(asked: Asked, signal: AbortSignal): Promise<Answer | NoAnswer> {
    this.#thread ??= startedThread(this.#options);
    const answer = await answerOf<Asked, Answer>(this.#thread, asked, { ...this.#options, signal });
    if (answer.kind === 'none') await this.end();
    return answer;
  }

  async end(): Promise<void> {
    const ending = this.#thread;
    this.#thread = undefined;
    await ending?.terminate();
  }
}

function startedThread({ url, heapMbMax }: ThreadOptions): Worker {
  const thread = new Worker(url, { resourceLimits: { maxOldGenerationSizeMb: heapMbMax } });
  // An error of a thread that is being ended must not end the process.
  return thread.on('error', () => undefined);
}

type Waiting = Pick<ThreadOptions, 'clock' | 'msMax'> & { readonly signal: AbortSignal };

function answerOf<Asked, Answer>(
  thread: Worker,
  asked: Asked,
  { clock, msMax, signal }: Waiting,
): Promise<Answer | NoAnswer> {
  return new Promise((resolve) => {
    const settle = (answer: Answer | NoAnswer) => {
      cancel();
      signal.removeEventListener('abort', stopped);
      thread.off('message', settle).off('error', failed).off('exit', ended);
      resolve(answer);
    };
    const none = (detail: string) => settle({ kind: 'none', detail });
    const stopped = () => none('was not read before the stop');
    const failed = (error: Error) => none(`cannot be read: ${error.message}`);
    const ended = () => none('cannot be read: the thread has ended');
    const cancel = clock.setTimer(msMax, () => none(`takes longer than ${msMax / 1_000} s to read`));
    signal.addEventListener('abort', stopped);
    thread.on('message', settle).on('error', failed).on('exit', ended);
    if (signal.aborted) stopped();
    else thread.postMessage(asked);
  });
}
