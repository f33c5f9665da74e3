/** `probelet version`: of this program and of the server. */

import type { Command } from 'commander';
import { productVersion } from '../../product-version.ts';
import type { CommandSetting } from '../io.ts';
import { apiCommand, connectionOf, flagsOf, withSession } from '../server/connection.ts';

const examples = `
Examples:
  probelet version
  probelet version --client`;

export const versionCommand = ({ io }: CommandSetting): Command =>
  apiCommand('version')
    .description('print the version of this program and of the API of the server')
    .option('--client', 'of this program alone')
    .addHelpText('after', examples)
    .action(async (_options: object, command: Command) => {
      io.line(`Client: ${productVersion}`);
      if (command.opts<{ readonly client?: boolean }>().client) return;
      await withSession(connectionOf(flagsOf(command), io.env), { io }, async ({ client }) => {
        const { api, status } = await client.version();
        io.line(`Server: API ${api}, ${status}`);
      });
    });
