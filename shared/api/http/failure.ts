/**
 * Exceptions at the API's edge: an unreachable store, or a bug. Apart from the problems themselves, which the command
 * line uses too and without a store.
 */
import { deniedForMs } from '../../aws/access.ts';
import type { Log } from '../../lib/log.ts';
import { StoreDenied, StoreUnavailable } from '../../store/store.ts';
import { brokenOff, type Problem, problem } from './problem.ts';

/** Thrown where a request waits for its next piece of work. No answer reaches the client. */
export class ClientGone extends Error {}

/**
 * The problem for an exception that reached the API's edge or an entry of a batch. 503 with the time after which to try
 * again for an unreachable store, 500 for a bug; both are logged.
 */
export function problemOfError(log: Log, error: unknown): Problem {
  if (error instanceof ClientGone) return brokenOff;
  if (error instanceof StoreDenied)
    return {
      ...problem(503, 'store-unavailable', 'The service lacks a right to its store; its log says which.'),
      headers: { 'retry-after': String(deniedForMs / 1_000) },
    };
  if (error instanceof StoreUnavailable) {
    log.warn('request not served: store unavailable', { cause: error.message });
    return {
      ...problem(503, 'store-unavailable', 'The store is busy or unreachable; try again.'),
      headers: { 'retry-after': '1' },
    };
  }
  log.error('request failed', { error });
  return problem(500, 'internal', 'The request failed; the log of the service says why.');
}
