/** What a failure is for people. */
import type { FailureClass } from '../spec/types.ts';

/** kubelet's text of a failed command is what it printed. Where that is nothing, its end is all that is known. */
export function failureText(output: string, failureClass: FailureClass | string | undefined): string {
  if (output.trim() !== '') return output;
  return failureClass === 'EXEC_EXIT'
    ? 'the command printed nothing, and its exit code was not 0'
    : (failureClass ?? '');
}
