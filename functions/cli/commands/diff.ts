/** `probelet diff`: what `apply` would change, with an exit code that says whether it would. */

import type { Command } from 'commander';
import { ClientError } from '../../client/client-error.ts';
import { hostOption, withFiles } from '../files/manifest-files.ts';
import type { CommandSetting } from '../io.ts';
import { apiCommand } from '../server/connection.ts';
import { CliError, exitCodes, WrongUse } from '../words/exit-codes.ts';
import { type ApplyOptions, apply, setOption } from './apply.ts';

const examples = `
Examples:
  probelet diff -f targets.yaml
  probelet diff -f targets/ -R && echo nothing to apply

Exit code 0: nothing would change; 1: something would; 5: it could not be compared.`;

export const diffCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(apiCommand('diff'))
    .description('print what apply would change; exit code 1: something would')
    .addOption(hostOption())
    .addOption(setOption())
    .addHelpText('after', examples)
    .action(async (_options: ApplyOptions, command: Command) => {
      let changes = 0;
      let isWrong = false;
      const compared = {
        ...command.opts<ApplyOptions>(),
        diff: true,
        dryRun: 'server',
        onChange: () => (changes += 1),
      };
      try {
        await apply({ io, endWith: () => (isWrong = true) }, command, compared as ApplyOptions);
      } catch (error) {
        if (error instanceof WrongUse) throw error;
        if (error instanceof ClientError || error instanceof CliError)
          throw new CliError(error.message, exitCodes.notCompared);
        throw error;
      }
      if (isWrong) endWith(exitCodes.notCompared);
      else if (changes > 0) endWith(exitCodes.failed);
    });
