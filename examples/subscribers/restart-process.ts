/**
 * Runs a program, and restarts it when probelet requests that. For a target with one container and lifecycle static.
 *
 *     node examples/subscribers/restart-process.ts default/worker node worker.js --port 9000
 *
 * PROBELET_URL and PROBELET_TOKEN say where the API is (http://127.0.0.1:8080).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { ask, watch } from './watch.ts';

const [target = '', program = '', ...args] = process.argv.slice(2);
const [namespace = '', name = ''] = target.split('/');
if (name === '' || program === '') {
  console.error('usage: restart-process.ts NAMESPACE/NAME PROGRAM [ARGUMENT …]');
  process.exit(2);
}

const stopMs = 5_000;
let child = start();
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => void stop(stopMs).then(() => process.exit(0)));
process.once('exit', () => child.kill());

/** The container that was last restarted. */
let restarted = '';
for await (const request of watch('Container Restart Requested', { namespace, name })) {
  if (request === undefined) continue;
  const { container, containerID, message, terminationGracePeriodSeconds } = request;
  // An event may arrive twice, and a request is repeated until the restart has been reported.
  if (containerID !== restarted) {
    console.log(message);
    await stop(terminationGracePeriodSeconds * 1_000);
    child = start();
    restarted = containerID;
  }
  // If it fails, the next request makes up for it.
  await report({ container, containerID }).catch((error) => console.error(`not reported: ${error}`));
}

function start(): ChildProcess {
  const started = spawn(program, args, { stdio: 'inherit' });
  started.once('error', ({ message }) => {
    console.error(message);
    process.exit(1);
  });
  console.log(`${target} runs as process ${started.pid}`);
  return started;
}

/** SIGTERM, and SIGKILL if the process is still there after the grace period. */
async function stop(graceMs: number): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exit;
  clearTimeout(timer);
}

/** With the containerID, reporting the same restart twice counts once. */
async function report(restart: { readonly container: string; readonly containerID: string }): Promise<void> {
  await ask(`/v1/namespaces/${namespace}/targets/${name}/restarted`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(restart),
  });
}
