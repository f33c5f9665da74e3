/** Child processes of a test program: they answer over their channel, and end with it. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { fileURLToPath } from 'node:url';

/** The next message of a child, after one to it; a child that exits first is an error. */
export async function answerOf(child: ChildProcess, message?: object | string): Promise<unknown> {
  const over = new AbortController();
  const answer = once(child, 'message', over).then(([answered]) => answered as unknown);
  const exit = once(child, 'exit', over).then(([code]) => {
    throw new Error(`a child process has ended: ${code}`);
  });
  if (message !== undefined) child.send(message);
  // The one that does not come is aborted, which is no error.
  answer.catch(() => undefined);
  exit.catch(() => undefined);
  return Promise.race([answer, exit]).finally(() => over.abort());
}

export const forkBeside = (path: string, from: string): ChildProcess => fork(fileURLToPath(new URL(path, from)));

export type ServerProcess = { readonly child: ChildProcess; readonly port: number };

/** A child that calls `serveParent`, and its port. */
export async function forkServer(path: string, from: string): Promise<ServerProcess> {
  const child = forkBeside(path, from);
  return { child, port: (await answerOf(child)) as number };
}

/** All targets of a shard that has just been taken over are probed at once. */
const backlog = 4_096;

/** In a child: listens on loopback, sends its port to the parent, and ends with it. */
export function serveParent(server: Server): void {
  server.listen({ port: 0, host: '127.0.0.1', backlog }, () => process.send?.((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}
