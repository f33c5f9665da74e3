/**
 * Runs exec probes by a Lambda function that the deployment names. The function receives the command and its target,
 * and returns an exit code and output. How it runs the command (an ECS task, a shell, a query) is up to the function.
 */
import { type AwsAnswer, type AwsCall, jsonObject } from '../aws/aws-call.ts';
import type { ExecRequest } from '../core/spec/handler-exec.ts';
import type { Clock } from '../lib/clock.ts';
import { cut, type ExecOutcome, type Runner } from './exec.ts';

/** The payload of the invocation. */
export type ExecPayload = {
  readonly command: readonly string[];
  readonly container: string;
  readonly target: ExecRequest['target'];
  /** How long the prober waits for the answer. */
  readonly timeoutMs: number;
};

export type LambdaRunnerOptions = {
  readonly call: AwsCall;
  readonly clock: Clock;
  readonly functionArn: string;
};

export function lambdaRunner({ call, clock, functionArn }: LambdaRunnerOptions): Runner {
  const path = `/2015-03-31/functions/${encodeURIComponent(functionArn)}/invocations`;
  const headers = { 'content-type': 'application/json', 'x-amz-invocation-type': 'RequestResponse' };
  return async ({ command, container, target, timeoutMs }) => {
    const payload: ExecPayload = { command, container, target, timeoutMs };
    const request = { service: 'lambda', path, headers, body: JSON.stringify(payload) } as const;
    return outcomeOf(await call(request, clock.monotonicMs() + timeoutMs));
  };
}

function outcomeOf(answer: AwsAnswer): ExecOutcome {
  switch (answer.kind) {
    case 'tooLate':
      return { kind: 'timedOut', output: '' };
    case 'unreachable':
      return { kind: 'notStarted', message: `Lambda out of reach: ${answer.message}`, isProberError: true };
    case 'denied':
      return notRun('the prober has no right to invoke this function');
    case 'answer':
      return answer.status === okStatus ? ranOutcome(answer) : refusedOutcome(answer);
  }
}

const okStatus = 200;
const tooManyRequests = 429;
const serverErrorFrom = 500;

type Answered = Extract<AwsAnswer, { readonly kind: 'answer' }>;

/** Throttling and server errors are prober errors. Any other refusal is an error in the deployment. */
function refusedOutcome({ status, body }: Answered): ExecOutcome {
  const isProberError = status === tooManyRequests || status >= serverErrorFrom;
  const message = jsonObject(body)?.message ?? jsonObject(body)?.Message ?? '';
  return { kind: 'notStarted', message: `Lambda refused the call with ${status}: ${message}`, isProberError };
}

/** If the function failed, the exit code of its command is unknown. */
function ranOutcome({ headers, body }: Answered): ExecOutcome {
  const answer = jsonObject(body);
  if (headers['x-amz-function-error'] !== undefined)
    return notRun(`the function failed: ${answer?.errorMessage ?? 'without a message'}`);
  const { exitCode, output = '' } = answer ?? {};
  if (typeof exitCode !== 'number' || !Number.isInteger(exitCode) || typeof output !== 'string')
    return notRun('the function has to answer {"exitCode": integer, "output": string}');
  return { kind: 'exited', exitCode, output: cut(output) };
}

const notRun = (message: string): ExecOutcome => ({ kind: 'notStarted', message, isProberError: false });
