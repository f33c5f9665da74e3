/** Why baseline code is compiled on the thread that runs it. */
import { setFlagsFromString } from 'node:v8';

/**
 * Compiles baseline code on this thread instead of another one, so that `process.exit` ends the process: the exiting
 * thread waits for the compiling ones, and one of those may wait for a garbage collection that only the exiting thread
 * could make (nodejs/node#54918). With `--optimize-for-size`, that is with little room in the heap, a process that was
 * stopped stayed now and then until SIGKILL.
 */
export function compileHere(): void {
  setFlagsFromString('--no-concurrent-sparkplug');
}
