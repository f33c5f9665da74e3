/** A scripted HTTP/2 server on a thread of its own, which continues while the prober is busy. */
import type { TestContext } from 'node:test';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { type Http2Script, startHttp2Script } from './http2-script-server.ts';

/** Returns its port. It ends with the test. */
export async function startHttp2Thread(t: TestContext, script: Http2Script): Promise<number> {
  const thread = new Worker(import.meta.filename, { workerData: { http2Script: script } });
  t.after(() => thread.terminate());
  return new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject));
}

const script: Http2Script | undefined = workerData?.http2Script;
if (script) parentPort?.postMessage((await startHttp2Script(script, true)).port);
