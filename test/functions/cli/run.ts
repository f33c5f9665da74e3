/** Runs one command line in this process, on a clock that waits for nothing. */
import assert from 'node:assert/strict';
import type { Streams } from '../../../functions/cli/io.ts';
import { runCli } from '../../../functions/cli/program.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { startMs } from '../../api/world.ts';
import { immediateClock } from '../../support/immediate-clock.ts';

export type Ran = { readonly code: number; readonly out: string; readonly err: readonly string[] };

/** `onOut`: called with each piece that is printed. */
export type RunOptions = Partial<Streams> & { readonly onOut?: (text: string) => void };

export async function ranCli(args: readonly string[], { onOut, ...overrides }: RunOptions = {}): Promise<Ran> {
  const printed: string[] = [];
  const lines: string[] = [];
  const code = await runCli(args, {
    out: (text) => {
      printed.push(text);
      onOut?.(text);
    },
    err: (line) => lines.push(line),
    progress: () => undefined,
    env: {},
    isTerminal: false,
    clock: { ...immediateClock(), nowMs: () => startMs },
    random: systemRandom,
    become: () => assert.fail('this process stays'),
    interrupted: () => new AbortController().signal,
    ...overrides,
  });
  return { code, out: printed.join(''), err: lines };
}
