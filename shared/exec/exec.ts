/**
 * The port behind exec probes: it runs one command to completion. kubelet calls the container runtime (`ExecSync`);
 * here the adapter decides where a command runs and which commands are allowed. A runner never throws.
 */
import type { ExecRequest } from '../core/spec/handler-exec.ts';

/**
 * `output` holds standard output and after it standard error, as kubelet joins them (pkg/kubelet/kuberuntime:
 * RunInContainer), at most `outputBytesMax` bytes.
 */
export type ExecOutcome =
  | { readonly kind: 'exited'; readonly exitCode: number; readonly output: string }
  | { readonly kind: 'timedOut'; readonly output: string }
  /** The command is not allowed. */
  | { readonly kind: 'denied'; readonly message: string }
  /**
   * `isProberError` means a resource shortage of the prober's machine, hence a prober error; `code` is its system error
   * code. Otherwise the command itself cannot be started.
   */
  | { readonly kind: 'notStarted'; readonly message: string; readonly isProberError: boolean; readonly code?: string };

export type Runner = (request: ExecRequest) => Promise<ExecOutcome>;

/** Returns the reason why the configuration forbids a command, or undefined if it is allowed. */
export type ExecRefusal = (command: readonly string[]) => string | undefined;

/** kubelet's maxReadLength. Further output is read and dropped, so that the command can continue. */
export const outputBytesMax = 10_240;

/** Truncates to `outputBytesMax` bytes without splitting a character. */
export function cut(output: string): string {
  const bytes = Buffer.from(output);
  if (bytes.length <= outputBytesMax) return output;
  return new TextDecoder().decode(bytes.subarray(0, outputBytesMax), { stream: true });
}
