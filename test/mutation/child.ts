/**
 * A process of its own for each judgement: what a mutant breaks there is broken nowhere else. Its CPU time is limited,
 * not its duration.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Edit } from '../support/edited-source.ts';
import { cpuMark } from './cpu-mark.ts';
import { mutantVariable } from './mutant.ts';

const hookUrl = new URL('./hook.ts', import.meta.url).href;
const pathOf = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));
const projectPath = fileURLToPath(new URL('../../', import.meta.url));

/** Nothing waits for real, so what stands still for so long waits for ever. */
const standstillMs = 150_000;

export type ChildOptions = {
  readonly script: 'unit-child.ts' | 'sim-child.ts' | 'start-child.ts';
  readonly args: readonly string[];
  readonly cpuSeconds: number;
  readonly mutant?: Edit;
  /** Where V8 writes what was executed. */
  readonly coverageFolder?: string;
};

export type ChildEnd = {
  /** null: a signal has ended it, as one does when its CPU time is used up. */
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
  /** What it has used, as far as it has reported. */
  readonly cpuSeconds: number;
};

export async function runChild({ script, args, cpuSeconds, mutant, coverageFolder }: ChildOptions): Promise<ChildEnd> {
  const preload = mutant ? ['--import', hookUrl] : [];
  const command = [process.execPath, ...preload, pathOf(script), ...args];
  const child = spawn('bash', ['-c', `ulimit -t ${cpuSeconds}; exec "$@"`, 'bash', ...command], {
    cwd: projectPath,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: standstillMs,
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      ...(mutant && { [mutantVariable]: JSON.stringify(mutant) }),
      ...(coverageFolder !== undefined && { NODE_V8_COVERAGE: coverageFolder }),
    },
  });
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  const used = Number(errors.slice(errors.lastIndexOf(cpuMark) + cpuMark.length));
  return { exitCode, output, errors, cpuSeconds: used };
}
