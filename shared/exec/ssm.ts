/**
 * Runs the commands of exec probes on an instance, by Run Command of Systems Manager. It is slow: a command begins a second or two after
 * it was asked for, and that counts towards the probe's time-out. Source: SendCommand and GetCommandInvocation in the API reference.
 */
import { type AwsCall, awsJson, type JsonAnswer } from '../aws/aws-call.ts';
import { type Clock, sleep } from '../lib/clock.ts';
import { cut, type ExecOutcome, type Runner } from './exec.ts';

export type SsmRunnerOptions = { readonly call: AwsCall; readonly clock: Clock; readonly instanceId: string };

/** Between two looks at the same command; the API takes a few a second for the whole account. */
const firstLookMs = 400;
const lookAgainMs = 1_000;
/** Run Command's least delivery time-out. What it delivers later runs all the same, and nobody looks at it. */
const deliverySeconds = 30;
/** A command that nobody waits for is cancelled within this. */
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
    if (commandId === undefined) return { kind: 'notStarted', message: 'Systems Manager gave no id', own: true };
    const watched = await watch({ call, clock, deadlineMs }, { CommandId: commandId, InstanceId: instanceId });
    if (watched.kind === 'ended') return watched.outcome;
    await cancelled({ call, clock }, commandId);
    return watched.hasBegun
      ? { kind: 'timedOut', output: '' }
      : { kind: 'notStarted', message: 'Run Command had not begun in time', own: true };
  };
}

/**
 * One argument of a shell, whatever is in it. Quotes behind each brace part those that Systems Manager would take for a reference
 * (`{{ssm:NAME}}`) and replace by a value the caller may not read.
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
      return { kind: 'notStarted', message: 'Systems Manager did not answer in time', own: true };
    case 'unreachable':
      return { kind: 'notStarted', message: `Systems Manager out of reach: ${answer.message}`, own: true };
    case 'denied':
      return { kind: 'notStarted', message: 'the prober has no right to run commands on this instance', own: false };
    case 'error':
      return {
        kind: 'notStarted',
        message: `Systems Manager: ${answer.code} ${answer.message}`.trim(),
        own: isPassing(answer),
      };
  }
}

const serverErrorFrom = 500;

const isPassing = ({ code, status }: Extract<NoOutput, { readonly kind: 'error' }>): boolean =>
  status >= serverErrorFrom || code.startsWith('Throttling');

type Watching = { readonly call: AwsCall; readonly clock: Clock; readonly deadlineMs: number };

/** `hasBegun`: it was seen to run; of one that was not, nothing is known of the target when time is up. */
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

/** A command that was just sent is not known at once, and one look that fails is not the end. */
function lookEnd(answer: NoOutput): ExecOutcome | undefined {
  if (answer.kind === 'denied') return notSent(answer);
  if (answer.kind === 'error' && answer.code !== 'InvocationDoesNotExist' && !isPassing(answer)) return notSent(answer);
  return undefined;
}

/** undefined: it is still on its way. */
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
      // What was not delivered in time has not begun.
      if (details === 'Execution Timed Out' || details === 'ExecutionTimedOut')
        return { kind: 'timedOut', output: outputOf(invocation) };
      break;
  }
  return { kind: 'notStarted', message: `Run Command ended as ${details ?? status}`, own: false };
}

const outputOf = ({ StandardOutputContent: out, StandardErrorContent: error }: Readonly<Record<string, unknown>>) =>
  cut(`${out ?? ''}${error ?? ''}`);

/** Best effort: what cannot be cancelled ends by its own time-out. */
async function cancelled({ call, clock }: Pick<Watching, 'call' | 'clock'>, commandId: string): Promise<void> {
  const request = { service: 'ssm', target: 'AmazonSSM.CancelCommand', input: { CommandId: commandId } } as const;
  await awsJson(call, request, clock.monotonicMs() + cancelMs);
}
