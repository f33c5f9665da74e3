/** The container of `npm run demo`: a process that keeps its port across restarts. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export type DemoContainer = {
  readonly port: number;
  /** The current process id. */
  readonly pid: () => number | undefined;
  /** Makes the process stop answering. */
  hang(): void;
  /** Kills the process and starts a new one; resolves when it listens. */
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export async function startContainer(): Promise<DemoContainer> {
  let running = await run(0);
  const { port } = running;
  const stop = async (): Promise<void> => {
    const exit = once(running.child, 'exit');
    running.child.kill('SIGKILL');
    await exit;
  };
  return {
    port,
    pid: () => running.child.pid,
    hang: () => void running.child.send('hang'),
    async restart() {
      await stop();
      running = await run(port);
    },
    stop,
  };
}

type Running = { readonly child: ChildProcess; readonly port: number };

/** @throws if the process ends before it listens. */
async function run(port: number): Promise<Running> {
  const child = fork(new URL('./worker.ts', import.meta.url), [String(port)]);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the container ended with ${code}`);
  });
  const [address] = (await Promise.race([once(child, 'message'), ended])) as [AddressInfo];
  ended.catch(() => undefined);
  return { child, port: address.port };
}
