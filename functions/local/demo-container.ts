/** A process that `npm run demo` runs as a container: it keeps its port when it is restarted. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export type DemoContainer = {
  readonly port: number;
  /** Of the present process. */
  readonly pid: () => number | undefined;
  /** From now on it answers nothing. */
  hang(): void;
  /** Kills the process and runs another one; resolves when that listens. */
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

/** @throws if it ends before it listens. */
async function run(port: number): Promise<Running> {
  const child = fork(new URL('./demo-worker.ts', import.meta.url), [String(port)]);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the container ended with ${code}`);
  });
  const [address] = (await Promise.race([once(child, 'message'), ended])) as [AddressInfo];
  ended.catch(() => undefined);
  return { child, port: address.port };
}
