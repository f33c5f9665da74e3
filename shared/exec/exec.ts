/**
 * The port behind exec probes: runs one command to its end. kubelet asks the container runtime (`ExecSync`); who runs it here, and
 * which commands may run at all, is the adapter's. A runner never throws.
 */
import type { ExecRequest } from '../prober/prober.ts';

/** `output`: standard output and standard error together, in the order in which they came, at most `outputBytesMax`. */
export type ExecOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number; readonly output: string }
  | { readonly kind: 'timedOut'; readonly output: string }
  /** Not one of the commands that may run here. */
  | { readonly kind: 'denied'; readonly message: string }
  /** `own`: the prober's machine is short of something; else the command cannot be run. */
  | { readonly kind: 'notStarted'; readonly message: string; readonly own: boolean };

export type Runner = (request: ExecRequest) => Promise<ExecOutcome>;

/** Why a command may not run, by the configuration alone; undefined: it may. */
export type ExecRefusal = (command: readonly string[]) => string | undefined;

/** kubelet's maxReadLength. More is read and dropped, so that the command can go on. */
export const outputBytesMax = 10_240;

/** At most `outputBytesMax`, and not in the middle of a character. */
export function cut(output: string): string {
  const bytes = Buffer.from(output);
  if (bytes.length <= outputBytesMax) return output;
  return new TextDecoder().decode(bytes.subarray(0, outputBytesMax), { stream: true });
}
