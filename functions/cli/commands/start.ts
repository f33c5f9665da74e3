/**
 * `probelet start`, which `npm start` is in a clone. The server takes the place of this process, so that signals reach
 * it, its exit code is the command's, and no second process stays in memory.
 */
import { fileURLToPath } from 'node:url';
import nodeOptions from '../../local/node-options.json' with { type: 'json' };
import { StartCommand } from '../../local/options/start-command.ts';
import type { CommandSetting } from '../io.ts';
import { WrongUse } from '../words/exit-codes.ts';

const program = fileURLToPath(new URL('../../local/start.mjs', import.meta.url));

export function startCommand({ io }: CommandSetting): StartCommand {
  const command = new StartCommand();
  return command.action(() => {
    const [misplaced] = Object.keys(command.parent?.opts() ?? {});
    if (misplaced !== undefined) throw new WrongUse('the options of start stand behind it');
    command.given();
    io.become([...nodeOptions.options, program, ...command.words], { ...nodeOptions.variables, ...io.env });
  });
}
