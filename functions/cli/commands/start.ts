/**
 * `probelet start`: what `npm start` does in a clone. The server takes the place of this process, so that signals reach
 * it, its exit code is the command's, and no second process stays in memory.
 */

import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { CommandSetting } from '../io.ts';
import { WrongUse } from '../words/exit-codes.ts';

/** Options of Node and variables that keep the memory small: docs/operating.md, Memory of one process. */
const nodeOptions = [
  '--max-semi-space-size=4',
  '--no-maglev',
  '--no-parallel-scavenge',
  '--no-allocation-site-pretenuring',
  '--optimize-for-size',
  '--heap-growing-percent=100',
];
const memoryEnv = { MALLOC_ARENA_MAX: '1', MALLOC_MMAP_THRESHOLD_: '131072' };

const program = fileURLToPath(new URL('../../local/start.mjs', import.meta.url));

export const startCommand = ({ io }: CommandSetting): Command =>
  new Command('start')
    .description('run the API, the schedule and the prober in this process: --help shows its options')
    .argument('[option...]', 'as for npm start')
    // The server parses its own options.
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action((options: readonly string[], _: object, command: Command) => {
      const [misplaced] = Object.keys(command.parent?.opts() ?? {});
      if (misplaced !== undefined) throw new WrongUse('the options of start stand behind it');
      io.become([...nodeOptions, program, ...options], { ...memoryEnv, ...io.env });
    });
