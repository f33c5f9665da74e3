/** What a failure is for people. */
import type { FailureClass } from './types.ts';

/** kubelet's text of a failed command is what it printed. That may be nothing, and then its end is all there is to say. */
export function failureText(output: string, failureClass: FailureClass | string | undefined): string {
  if (output.trim() !== '') return output;
  return failureClass === 'EXEC_EXIT'
    ? 'the command printed nothing, and its exit code was not 0'
    : (failureClass ?? '');
}
