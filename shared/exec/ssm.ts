/**
 * Runs exec probes on an instance by Systems Manager Run Command. It is slow: a command starts one or two seconds after
 * the request, and that counts towards the probe's time-out. Source: SendCommand and GetCommandInvocation in the API
 * reference.
 */
import { type AwsCall, awsJson, type JsonAnswer } from '../aws/aws-call.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { cut, type ExecOutcome, type Runner } from './exec.ts';

export type SsmRunnerOptions = { readonly call: AwsCall; readonly clock: Clock; readonly instanceId: string };

/** Pauses before polls of the same command. The API allows a few calls a second for the whole account. */
const firstLookMs = 400;
const lookAgainMs = 1_000;
/**
 * Run Command's minimum delivery time-out. A command delivered after the probe's deadline still runs, but its result is
 * ignored.
 */
const deliverySeconds = 30;
/** The time limit of the call that cancels a command after the probe's deadline. */
const cancelMs = 2_000;

export function ssmRunner({ call, clock, instanceId }: SsmRunnerOptions): Runner {
  return async ({ command, timeoutMs }) => {
    const deadlineMs = clock.monotonicMs() + timeoutMs;
    const input = {
      DocumentName: 'AWS-RunShellScript',
      InstanceIds: [instanceId],
      TimeoutSeconds: deliverySeconds,
      Parameters: {
        commands: [command.map(shellWord).join(' ')],
        executionTimeout: [String(Math.ceil(timeoutMs / 1_000))],
      },
    };
    const asked = { service: 'ssm', target: 'AmazonSSM.SendCommand', input, resource: instanceId } as const;
    const sent = await awsJson(call, asked, deadlineMs);
    if (sent.kind !== 'output') return notSent(sent);
    const commandId = commandIdOf(sent.output);
    if (commandId === undefined)
      return { kind: 'notStarted', message: 'Systems Manager returned no command id', isProberError: true };
    const watched = await watch({ call, clock, deadlineMs }, { CommandId: commandId, InstanceId: instanceId });
    if (watched.kind === 'ended') return watched.outcome;
    await cancelled({ call, clock }, commandId);
    return watched.hasBegun
      ? { kind: 'timedOut', output: '' }
      : { kind: 'notStarted', message: 'Run Command had not begun in time', isProberError: true };
  };
}

/**
 * Quotes one shell argument. An empty quoted string after each brace splits sequences such as `{{ssm:NAME}}`, which
 * Systems Manager would replace by a parameter that the caller may not read.
 */
const shellWord = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`).replaceAll('{', "{''")}'`;

function commandIdOf({ Command: command }: Readonly<Record<string, unknown>>): string | undefined {
  const id = typeof command === 'object' && command !== null && 'CommandId' in command ? command.CommandId : undefined;
  return typeof id === 'string' ? id : undefined;
}

type NoOutput = Exclude<JsonAnswer, { readonly kind: 'output' }>;

function notSent(answer: NoOutput): ExecOutcome {
  switch (answer.kind) {
    case 'tooLate':
      return { kind: 'notStarted', message: 'Systems Manager did not answer in time', isProberError: true };
    case 'unreachable':
      return { kind: 'notStarted', message: `Systems Manager out of reach: ${answer.message}`, isProberError: true };
    case 'denied':
      return {
        kind: 'notStarted',
        message: 'the prober has no right to run commands on this instance',
        isProberError: false,
      };
    case 'error':
      return {
        kind: 'notStarted',
        message: `Systems Manager: ${answer.code} ${answer.message}`.trim(),
        isProberError: isPassing(answer),
      };
  }
}

const serverErrorFrom = 500;

const isPassing = ({ code, status }: Extract<NoOutput, { readonly kind: 'error' }>): boolean =>
  status >= serverErrorFrom || code.startsWith('Throttling');

type Watching = { readonly call: AwsCall; readonly clock: Clock; readonly deadlineMs: number };

/** `hasBegun` means that the command was seen running. If it was not, the time-out says nothing about the target. */
type Watched =
  | { readonly kind: 'ended'; readonly outcome: ExecOutcome }
  | { readonly kind: 'tooLate'; readonly hasBegun: boolean };

async function watch({ call, clock, deadlineMs }: Watching, input: Readonly<Record<string, string>>): Promise<Watched> {
  let hasBegun = false;
  for (let pauseMs = firstLookMs; ; pauseMs = lookAgainMs) {
    const leftMs = deadlineMs - clock.monotonicMs();
    if (leftMs <= 0) return { kind: 'tooLate', hasBegun };
    await sleep(clock, Math.min(pauseMs, leftMs));
    const request = { service: 'ssm', target: 'AmazonSSM.GetCommandInvocation', input } as const;
    const answer = await awsJson(call, request, deadlineMs);
    if (answer.kind === 'output') hasBegun ||= answer.output.Status === 'InProgress';
    const outcome = answer.kind === 'output' ? endOf(answer.output) : lookEnd(answer);
    if (outcome) return { kind: 'ended', outcome };
  }
}

/** Returns undefined to keep polling: a new command is not visible immediately, and one failed poll may pass. */
function lookEnd(answer: NoOutput): ExecOutcome | undefined {
  if (answer.kind === 'denied') return notSent(answer);
  if (answer.kind === 'error' && answer.code !== 'InvocationDoesNotExist' && !isPassing(answer)) return notSent(answer);
  return undefined;
}

/** Returns undefined while the command has not ended. */
function endOf(invocation: Readonly<Record<string, unknown>>): ExecOutcome | undefined {
  const { Status: status, StatusDetails: details, ResponseCode: exitCode } = invocation;
  switch (status) {
    case 'Pending':
    case 'InProgress':
    case 'Delayed':
    case 'Cancelling':
      return undefined;
    case 'Success':
    case 'Failed':
      if (typeof exitCode === 'number' && exitCode >= 0)
        return { kind: 'exited', exitCode, output: outputOf(invocation) };
      break;
    case 'TimedOut':
      // Only these two details mean an execution time-out. Any other means that the command was not delivered in time
      // and never started.
      if (details === 'Execution Timed Out' || details === 'ExecutionTimedOut')
        return { kind: 'timedOut', output: outputOf(invocation) };
      break;
  }
  return { kind: 'notStarted', message: `Run Command ended as ${details ?? status}`, isProberError: false };
}

const outputOf = ({ StandardOutputContent: out, StandardErrorContent: error }: Readonly<Record<string, unknown>>) =>
  cut(`${out ?? ''}${error ?? ''}`);

/** Best effort: a command that cannot be cancelled ends by its execution time-out. */
async function cancelled({ call, clock }: Pick<Watching, 'call' | 'clock'>, commandId: string): Promise<void> {
  const request = { service: 'ssm', target: 'AmazonSSM.CancelCommand', input: { CommandId: commandId } } as const;
  await awsJson(call, request, clock.monotonicMs() + cancelMs);
}
