/**
 * Runs a command on this machine without a shell, with a minimal environment and in a separate process group. All
 * processes that it started end with it, because a probe that leaks one process a second would exhaust the machine.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { goQuote } from '../core/go/text.ts';
import { shortageOf } from '../core/self/sockets.ts';
import type { ExecRequest } from '../core/spec/handler-exec.ts';
import { afterArrivals, type Clock, sleep } from '../lib/clock.ts';
import type { AllowList } from './allow-list.ts';
import { cappedOutput } from './capped-output.ts';
import { type CommandProcesses, commandProcesses, type OneCommand } from './command-processes.ts';
import type { ExecOutcome, ExecRefusal, Runner } from './exec.ts';

export type LocalRunnerOptions = {
  readonly clock: Clock;
  /** If absent, exec probes are off. */
  readonly allows?: AllowList | undefined;
  /** Shared by all runners of the process. Defaults to a separate instance. */
  readonly processes?: CommandProcesses;
  /** Called with the system error code of each command that this machine lacked the means to start. */
  readonly onFailed?: (code: string) => void;
};

/** Excludes the prober's environment, which may hold credentials. */
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
/**
 * How long to wait for remaining output after the command has ended, once before and once after its leftover processes
 * are killed.
 */
const drainMsMax = 250;
/**
 * How long to wait for a killed command to exit. The kernel can delay that in a system call, and the probe does not
 * wait any longer.
 */
const deathMsMax = 1000;

export const localRunner = (options: LocalRunnerOptions): Runner => localCommands(options);

export type LocalCommand = Pick<ExecRequest, 'command' | 'timeoutMs'> & {
  /** For the standard input. Absent: it is empty. */
  readonly input?: string;
};

/** As for probes, for commands that read something. Never throws. */
export function localCommands({ clock, allows, processes = commandProcesses(clock), onFailed }: LocalRunnerOptions) {
  const refusal = allowListRefusal(allows);
  return async (asked: LocalCommand): Promise<ExecOutcome> => {
    const message = refusal(asked.command);
    if (message !== undefined) return { kind: 'denied', message };
    const outcome = await run(asked, { clock, own: processes.begin() });
    if (outcome.kind === 'notStarted' && outcome.code !== undefined) onFailed?.(outcome.code);
    return outcome;
  };
}

export function allowListRefusal(allows: AllowList | undefined): ExecRefusal {
  if (allows === undefined) return () => 'exec probes are off: no --allow-exec file was given';
  return (command) =>
    allows(command) ? undefined : `command ${goQuote(command.join(' '))} is not in the --allow-exec file`;
}

type Child = ChildProcessByStdio<Writable | null, Readable, Readable>;

type Context = { readonly clock: Clock; readonly own: OneCommand };

/** spawn throws in some cases, such as a NUL byte, and emits an error event in all others. */
async function run(asked: LocalCommand, context: Context): Promise<ExecOutcome> {
  const [program = '', ...args] = asked.command;
  const { own } = context;
  try {
    const options = { detached: true, env: { ...own.variables, ...environment }, cwd: '/' } as const;
    const child: Child =
      asked.input === undefined
        ? spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
        : spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    own.started(child.pid);
    // A command need not read it.
    child.stdin?.on('error', () => undefined).end(asked.input);
    return await finished(child, asked, context);
  } catch (error) {
    return notStarted(program, error as NodeJS.ErrnoException);
  } finally {
    own.end();
  }
}

/** Waits for the command to exit, which the time-out enforces, and then for the end of its output. */
async function finished(child: Child, { command, timeoutMs }: LocalCommand, context: Context): Promise<ExecOutcome> {
  const output = cappedOutput([child.stdout, child.stderr].filter(isOpen), context.clock);
  const closed = new Promise((resolve) => child.once('close', resolve));
  const end = await ended(child, timeoutMs, context);
  if (end.kind !== 'failed') await drained(closed, context);
  output.close();
  if (end.kind === 'failed') return notStarted(command[0] ?? '', end.error);
  return { ...end, output: output.text() };
}

/** If the process has no descriptors left, Node gives a child no streams at all. */
const isOpen = (stream: Readable | null | undefined): stream is Readable => stream !== null && stream !== undefined;

type End =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'timedOut' }
  | { readonly kind: 'failed'; readonly error: NodeJS.ErrnoException };

function ended(child: Child, timeoutMs: number, { clock, own }: Context): Promise<End> {
  return new Promise((resolve) => {
    let timedOut = false;
    let isOver = false;
    const settle = (end: End) => {
      cancel();
      isOver = true;
      resolve(timedOut ? { kind: 'timedOut' } : end);
    };
    const late = () => {
      if (isOver) return;
      timedOut = true;
      own.kill();
      cancel = clock.setTimer(deathMsMax, () => resolve({ kind: 'timedOut' }));
    };
    let cancel = clock.setTimer(timeoutMs, () => afterArrivals(clock, late));
    child.once('error', (error) => settle({ kind: 'failed', error }));
    child.once('exit', (code, signal) => settle({ kind: 'exited', exitCode: exitCode(code, signal) }));
  });
}

/** Processes that the command left running may write a little more output. */
async function drained(closed: Promise<unknown>, { clock, own }: Context): Promise<void> {
  if (await within(closed, drainMsMax, clock)) return;
  own.end();
  await within(closed, drainMsMax, clock);
}

async function within(done: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const giveUp = new AbortController();
  const isDone = await Promise.race([done.then(() => true), sleep(clock, ms, giveUp.signal).then(() => false)]);
  giveUp.abort();
  return isDone;
}

/** A command ended by a signal has the exit code that shells and container runtimes report. */
const exitCode = (code: number | null, signal: NodeJS.Signals | null): number =>
  code ?? signalBase + (signal === null ? 0 : constants.signals[signal]);

const signalBase = 128;

/** Go's error texts, which container runtimes report. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  ENOEXEC: 'exec format error',
  E2BIG: 'argument list too long',
};

function notStarted(program: string, error: NodeJS.ErrnoException): ExecOutcome {
  const code = error.code ?? '';
  const reason = code === 'ENOENT' && !program.includes('/') ? 'executable file not found in $PATH' : reasons[code];
  return {
    kind: 'notStarted',
    message: `exec: ${goQuote(program)}: ${reason ?? error.message}`,
    ...(shortageOf(code) === undefined ? { isProberError: false } : { isProberError: true, code }),
  };
}
