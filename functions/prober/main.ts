/** The entry point of the prober as a task of ECS, of the same bundle settings as the functions. */
import { isMainThread } from 'node:worker_threads';
import { visibilityMs } from '../../shared/holder/beat.ts';
import { visibleLine } from '../../shared/lib/visible-text.ts';
import { sqsQueue } from '../../shared/queue/sqs.ts';
import { InvalidEnvironment } from '../lambda/environment.ts';
import { compileHere } from '../local/compile-here.ts';
import { stopOnSignal } from '../local/process/stop-signals.ts';
import { deployedProber } from './deployed.ts';
import type { ProberFunctionPorts } from './prober.ts';
import { proberTask } from './task.ts';

// The watchdog's thread imports this file when the event loop hangs.
export { rememberHang } from '../watchdog/remember.ts';

if (isMainThread) {
  compileHere();
  const ports = deployedOrExit();
  const { clock, random, log, queue } = ports;
  // The queue's default visibility is that of a function. A task that dies early would lock its shard for as long.
  const task = proberTask(ports, sqsQueue({ ...queue, clock, random, visibilityMs }));
  stopOnSignal({ log, stop: () => task.stop() });
  log.info('task started', { release: ports.release });
}

function deployedOrExit(): ProberFunctionPorts {
  try {
    return deployedProber(import.meta.url);
  } catch (error) {
    if (!(error instanceof InvalidEnvironment)) throw error;
    // Node would print the line that threw, and a line of the bundle has 90 KB.
    console.error(visibleLine(error.message));
    process.exit(1);
  }
}
