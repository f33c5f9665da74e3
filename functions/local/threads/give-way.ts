/** Priorities of threads: what parses beside the event loop must not keep the loop from its processor. */
import { constants, setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';

/**
 * Lowers the priority of the thread that calls it, never that of the main one. On Linux alone: elsewhere the call is
 * about the whole process, which also probes.
 */
export function giveWay(): void {
  if (!isMainThread && process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}
