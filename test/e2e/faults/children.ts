/** Processes that a step has beside it: they answer over their channel, and end with it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The next message of a child, after one to it; a child that exits first is an error. */
export async function answerOf(child: ChildProcess, message?: object | string): Promise<unknown> {
  const over = new AbortController();
  const answer = once(child, 'message', over).then(([answered]) => answered as unknown);
  const exit = once(child, 'exit', over).then(([code]) => {
    throw new Error(`a child process has ended: ${code}`);
  });
  if (message !== undefined) child.send(message);
  // Whichever does not come is given up, which is no error of anybody's.
  answer.catch(() => undefined);
  exit.catch(() => undefined);
  return Promise.race([answer, exit]).finally(() => over.abort());
}

export const forkBeside = (path: string, from: string): ChildProcess => fork(fileURLToPath(new URL(path, from)));
