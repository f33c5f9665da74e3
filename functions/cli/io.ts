/** The world of a command: its streams, progress, environment, clock and exit code, handed in for tests. */
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import { type Random, systemRandom } from '../../shared/lib/random.ts';
import { visibleLine, withoutSecret, withoutUserinfo } from '../../shared/lib/visible-text.ts';
import { gated, type Printable } from './printing/printable.ts';
import type { ExitCode } from './words/exit-codes.ts';

export type Io = {
  /** Writes to the standard output stream: tables, documents, own texts. */
  readonly out: (text: Printable) => void;
  /** Writes a line to the standard output stream. */
  readonly line: (line: string) => void;
  /** Writes a line to the standard error stream. */
  readonly err: (line: string) => void;
  /** From the call on, `***` is printed in the place of these texts, which a server may repeat. Asked each time. */
  readonly hide: (secrets: () => readonly string[]) => void;
  /** Shows how far the work is on the last line of a terminal, until something is written. Nothing elsewhere. */
  readonly progress: (text: string) => void;
  readonly env: { readonly [name: string]: string | undefined };
  /** Whether the standard output stream is a terminal. */
  readonly isTerminal: boolean;
  readonly clock: Clock;
  readonly random: Random;
  /** Another program of Node takes the place of this process: its pid, its streams and its signals. Does not return. */
  readonly become: (args: readonly string[], env: Io['env']) => void;
  /** From the call on, the first SIGINT or SIGTERM aborts the signal instead of ending the process. */
  readonly interrupted: () => AbortSignal;
};

/** Without the gate. */
export type Streams = Omit<Io, 'line' | 'out' | 'hide'> & { readonly out: (text: string) => void };

/** The streams, the environment and the signals of this process. */
export const processIo = (): Streams => ({
  ...processStreams(),
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
  clock: systemClock,
  random: systemRandom,
  become,
  interrupted: () => {
    const controller = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => controller.abort());
    return controller.signal;
  },
});

/** The one way to the streams: nothing that is printed commands the terminal, a line stays one, and secrets are not. */
export function gatedIo(streams: Streams): Io {
  const hidden: (() => readonly string[])[] = [];
  const withoutSecrets = (text: string): string => hidden.flatMap((secrets) => secrets()).reduce(withoutSecret, text);
  const errorLine = (line: string): string => visibleLine(withoutUserinfo(withoutSecrets(line)));
  return {
    ...streams,
    out: (text) => streams.out(gated(withoutSecrets(text))),
    line: (line) => streams.out(`${gated(visibleLine(withoutSecrets(line)))}\n`),
    err: (line) => streams.err(errorLine(line)),
    progress: (text) => streams.progress(errorLine(text)),
    hide: (secrets) => {
      hidden.push(secrets);
    },
  };
}

/** Erases the line, as every terminal of the last decades understands it. */
const erasedLine = '\r\u001b[K';

function processStreams(): Pick<Streams, 'out' | 'err' | 'progress'> {
  let isShown = false;
  const erase = (): void => {
    if (isShown) process.stderr.write(erasedLine);
    isShown = false;
  };
  return {
    out: (text) => {
      erase();
      process.stdout.write(text);
    },
    err: (line) => {
      erase();
      process.stderr.write(`${line}\n`);
    },
    progress: (text) => {
      if (process.stderr.isTTY !== true) return;
      erase();
      process.stderr.write(text);
      isShown = text !== '';
    },
  };
}

/** @throws on Windows, where a process cannot be replaced */
function become(args: readonly string[], env: Io['env']): void {
  if (!process.execve) throw new Error(`this needs Linux or macOS; elsewhere run node ${args.join(' ')}`);
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  process.execve(process.execPath, [process.execPath, ...args], Object.fromEntries(given));
}

/** Progress of work that takes longer than a second. */
export type Progress = {
  /** Shows the text, at most ten times a second. */
  readonly show: (text: string) => void;
  readonly end: () => void;
};

const firstMs = 1_000;
const pauseMs = 100;

export function progressOf({ clock, progress }: Pick<Io, 'clock' | 'progress'>): Progress {
  let nextMs = clock.monotonicMs() + firstMs;
  let isShown = false;
  return {
    show(text) {
      const nowMs = clock.monotonicMs();
      if (nowMs < nextMs) return;
      nextMs = nowMs + pauseMs;
      isShown = true;
      progress(text);
    },
    end() {
      if (isShown) progress('');
      isShown = false;
    },
  };
}

/** A command ends by itself with `ok`, or says otherwise. */
export type EndWith = (code: ExitCode) => void;

export type CommandSetting = { readonly io: Io; readonly endWith: EndWith };
