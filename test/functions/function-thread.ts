/** One function of a deployment in a thread of its own, with an environment of its own, as Lambda runs it. */
import { parentPort, workerData } from 'node:worker_threads';
import { context } from './invocation.ts';

export type Invocation = { readonly id: number; readonly event: unknown; readonly forMs: number };
export type Invoked = { readonly id: number; readonly answer?: unknown; readonly error?: unknown };

const { handler } = await import(workerData.entry);

parentPort?.on('message', async ({ id, event, forMs }: Invocation) => {
  const invoked = await invoke(event, forMs);
  // The log of the invocation is there before its answer.
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  parentPort?.postMessage({ id, ...invoked });
});

async function invoke(event: unknown, forMs: number): Promise<Omit<Invoked, 'id'>> {
  try {
    return { answer: await handler(event, context(forMs)) };
  } catch (error) {
    return { error };
  }
}
