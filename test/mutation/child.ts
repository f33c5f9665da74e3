/**
 * A process of its own for each judgement: what a mutant breaks there is broken nowhere else. Its CPU time is limited,
 * not its duration.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Edit } from '../support/edited-source.ts';
import { mutantVariable } from './mutant.ts';

const hookUrl = new URL('./hook.ts', import.meta.url).href;
const pathOf = (name: string): string => fileURLToPath(new URL(`./${name}`, import.meta.url));
const projectPath = fileURLToPath(new URL('../../', import.meta.url));

/** What takes so much longer than without a mutant waits for ever. A machine that does other things is slow, too. */
const standstillFactor = 5;
const standstillSecondsMin = 150;
const standstillSecondsMax = 900;

export type ChildOptions = {
  readonly script: 'unit-child.ts' | 'sim-child.ts' | 'start-child.ts';
  readonly args: readonly string[];
  readonly cpuSeconds: number;
  readonly mutant?: Edit;
  /** How long it takes without the mutant. */
  readonly usualSeconds?: number;
  /** Where V8 writes what was executed. */
  readonly coverageFolder?: string;
};

export type ChildEnd = {
  /** null: a signal has ended it, as one does when its CPU time is used up. */
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
  readonly seconds: number;
};

export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { script, args, cpuSeconds, mutant, usualSeconds = standstillSecondsMax, coverageFolder } = options;
  const standstillSeconds = Math.max(
    standstillSecondsMin,
    Math.min(standstillSecondsMax, standstillFactor * usualSeconds),
  );
  const command = [process.execPath, pathOf(script), ...args];
  const child = spawn('bash', ['-c', `ulimit -t ${cpuSeconds}; exec "$@"`, 'bash', ...command], {
    cwd: projectPath,
    // A group of its own, so that what a mutant leaves running ends with its judgement.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: Math.ceil(standstillSeconds * 1_000),
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      // The processes that a test starts have the mutant, too.
      ...(mutant && { [mutantVariable]: JSON.stringify(mutant), NODE_OPTIONS: `--import ${hookUrl}` }),
      ...(coverageFolder !== undefined && { NODE_V8_COVERAGE: coverageFolder }),
    },
  });
  const { pid } = child;
  // Absent: it could not be started. As a group, 0 would be this process' own.
  if (pid !== undefined) {
    groups.add(pid);
    // What it has left running may hold its output open.
    child.once('exit', () => endGroup(pid));
  }
  const startedMs = performance.now();
  const [output, errors, [exitCode]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exitCode, output, errors, seconds: (performance.now() - startedMs) / 1_000 };
}

const groups = new Set<number>();

function endGroup(pid: number): void {
  groups.delete(pid);
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    for (const pid of groups) endGroup(pid);
    process.exit(1);
  });
