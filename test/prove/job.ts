/** One command of the project as a job: its output kept, in a file too, its last line at hand for what waits. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Job = {
  readonly name: string;
  /** An npm script and its arguments. */
  readonly script: string;
  readonly args: readonly string[];
  /** Computes all the time: it gives way to what measures time. */
  readonly givesWay?: true;
};

export type Done = {
  readonly job: Job;
  readonly output: string;
  /** undefined: ended by a signal. */
  readonly exitCode: number | undefined;
  readonly minutes: number;
};

/** Counts among processes of one session only, so no job begins one of its own. */
const niceness = '15';
const running = new Map<Job, { readonly child: ChildProcess; output: string }>();

export const commandOf = ({ script, args }: Job): string =>
  `npm run ${script}${args.length === 0 ? '' : ` -- ${args.join(' ')}`}`;

const folder = mkdtempSync(join(tmpdir(), 'probelet-prove-'));

/** What the job has said so far: a failure in its first minute need not wait for its last. */
export const outputFile = ({ name }: Job): string => join(folder, `${name.replaceAll(' ', '-')}.log`);

export async function run(job: Job): Promise<Done> {
  const startedMs = performance.now();
  const npm = ['npm', 'run', '--silent', job.script, '--', ...job.args];
  const [program = '', ...args] = job.givesWay ? ['nice', '-n', niceness, ...npm] : npm;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const entry = { child, output: '' };
  running.set(job, entry);
  const collect = (text: string) => {
    entry.output += text;
    appendFileSync(outputFile(job), text);
  };
  child.stdout.setEncoding('utf8').on('data', collect);
  child.stderr.setEncoding('utf8').on('data', collect);
  const ended = once(child, 'close').catch((error: Error) => {
    collect(`${error.message}\n`);
    return [undefined];
  });
  const [code] = (await ended) as [number | null | undefined];
  running.delete(job);
  return { job, output: entry.output, exitCode: code ?? undefined, minutes: (performance.now() - startedMs) / 60_000 };
}

/** What runs now, each with the last line that it said. */
export const progress = (): readonly string[] =>
  [...running].map(([{ name }, { output }]) => `${name}: ${output.trimEnd().split('\n').at(-1)}`);

/** npm passes it on. */
export function endAll(): void {
  for (const { child } of running.values()) child.kill('SIGTERM');
}
