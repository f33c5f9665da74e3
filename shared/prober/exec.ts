/** kubelet's exec probe: the outcome for the exit code of a command. Source: pkg/probe/exec. */
import { goDuration, goQuote } from '../core/go/text.ts';
import type { ExecRequest } from '../core/spec/handler-exec.ts';
import type { Attempt, FailureClass } from '../core/spec/types.ts';
import type { ExecOutcome, Runner } from '../exec/exec.ts';
import type { Clock } from '../lib/clock.ts';
import type { Prober } from './prober.ts';

export type ExecProberOptions = { readonly run: Runner; readonly clock: Clock };

/**
 * Exit code 0 is a success; any other exit code and the time-out are failures. A command that cannot or may not run is
 * a prober error.
 */
export function execProber({ run, clock }: ExecProberOptions): Prober<ExecRequest> {
  return async (request, permit) => {
    const startMs = clock.monotonicMs();
    const message = unrunnable(request.command);
    const outcome: ExecOutcome =
      message === undefined ? await run(request) : { kind: 'notStarted', message, isProberError: false };
    permit?.resumes?.();
    if (outcome.kind === 'notStarted' && outcome.code !== undefined) permit?.refused(outcome.code);
    return { ...verdict(request, outcome), timings: { totalMs: clock.monotonicMs() - startMs } };
  };
}

/**
 * Why the command is not passed to a runner; undefined: it may run. Kubernetes registers a command with NUL, which no
 * system can run, and a shell would drop the byte and run a different command.
 */
export const unrunnable = (command: readonly string[]): string | undefined =>
  command.some((word) => word.includes('\0')) ? 'a word of the command contains NUL' : undefined;

type Verdict = Omit<Attempt, 'timings'>;

function verdict({ command, timeoutMs }: ExecRequest, outcome: ExecOutcome): Verdict {
  switch (outcome.kind) {
    case 'exited':
      return outcome.exitCode === 0
        ? { outcome: 'success', output: outcome.output }
        : { outcome: 'failure', output: outcome.output, failureClass: 'EXEC_EXIT' };
    case 'timedOut':
      // kubelet has no output of a command that timed out and shows the error of its CRI client instead
      // (k8s.io/cri-client/pkg/remote_runtime.go, execSync).
      return {
        outcome: 'failure',
        output: `command timed out: ${goQuote(command.join(' '))} timed out after ${goDuration(timeoutMs)}`,
        failureClass: 'EXEC_TIMEOUT',
      };
    case 'denied':
      return errored('POLICY_DENIED', outcome.message);
    case 'notStarted':
      return errored(outcome.isProberError ? 'PROBER' : 'EXEC_START', outcome.message);
  }
}

const errored = (failureClass: FailureClass, error: string): Verdict => ({
  outcome: 'unknown',
  output: '',
  error,
  failureClass,
});
