/** An attempt that says nothing about its target. */
import type { Attempt, FailureClass } from '../../shared/core/spec/types.ts';

export const proberError = (failureClass: FailureClass | undefined, error = 'problem'): Attempt => ({
  ...{ outcome: 'unknown', output: '', error, timings: { totalMs: 1 } },
  ...(failureClass && { failureClass }),
});
