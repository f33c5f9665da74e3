/** The four functions of a deployment, each in a thread with its own environment and access key. */
import { Worker } from 'node:worker_threads';
import { entryFile, type FunctionName } from '../../functions/bundling.ts';
import type { Invoked } from './function-thread.ts';

export type FunctionThreads = {
  invoke(name: FunctionName, event: unknown, forMs?: number): Promise<unknown>;
  /** What it has logged since it was asked last, line by line. */
  logged(name: FunctionName): readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
};

const invocationMs = 29_000;

/** The access key of a function is its name. */
export function functionThreads(environment: Readonly<Record<string, string>>): FunctionThreads {
  const threads = new Map<FunctionName, ReturnType<typeof threadOf>>();
  /** Started when it is first asked for. */
  const of = (name: FunctionName) => {
    const thread = threads.get(name) ?? threadOf(name, environment);
    threads.set(name, thread);
    return thread;
  };
  return {
    invoke: (name, event, forMs = invocationMs) => of(name).invoke(event, forMs),
    logged: (name) => of(name).logged(),
    async stop() {
      await Promise.all([...threads.values()].map(({ stop }) => stop()));
    },
  };
}

function threadOf(name: FunctionName, environment: Readonly<Record<string, string>>) {
  const worker = new Worker(new URL('./function-thread.ts', import.meta.url), {
    env: { ...environment, AWS_ACCESS_KEY_ID: name },
    workerData: { entry: entryFile(name) },
    stdout: true,
  });
  let output = '';
  let died: unknown;
  worker.stdout.on('data', (chunk) => {
    output += chunk;
  });
  const waiting = new Map<number, (invoked: Invoked) => void>();
  worker.on('message', (invoked: Invoked) => waiting.get(invoked.id)?.(invoked));
  worker.on('error', (error) => {
    died = error;
    for (const [id, settle] of waiting) settle({ id, error });
  });
  let invocations = 0;
  return {
    async invoke(event: unknown, forMs: number): Promise<unknown> {
      invocations += 1;
      const id = invocations;
      const invoked = await new Promise<Invoked>((resolve) => {
        waiting.set(id, resolve);
        if (died === undefined) worker.postMessage({ id, event, forMs });
        else resolve({ id, error: died });
      });
      waiting.delete(id);
      if ('error' in invoked) throw invoked.error;
      return invoked.answer;
    },
    logged() {
      const lines = output.split('\n');
      output = lines.pop() ?? '';
      return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    },
    stop: () => worker.terminate(),
  };
}
