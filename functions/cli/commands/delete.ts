/** `probelet delete`: begins the termination of targets. */
import type { Command } from 'commander';
import { apiCommand, connectionOf, flagsOf, withSession } from '../connection.ts';
import { CliError, exitCodes } from '../exit-codes.ts';
import type { CommandSetting } from '../program.ts';
import { noTarget, targetNames } from '../resources.ts';
import { selectedTargets } from '../selection.ts';

type Options = { readonly selector?: string; readonly dryRun?: boolean };

export const deleteCommand = ({ io }: CommandSetting): Command =>
  apiCommand('delete')
    .description('delete targets; the names are free when their grace period is over')
    .argument('<target...>', 'target/NAME, or target NAME; target alone with --selector')
    .option('-l, --selector <labels>', 'all targets of the namespace with these labels')
    .option('--dry-run', 'only say what would be deleted')
    .action(async (words: readonly string[], _options: Options, command: Command) => {
      const { selector, dryRun = false } = command.opts<Options>();
      const names = targetNames(words, selector === undefined);
      if (names.length > 0 && selector !== undefined)
        throw new CliError('a name does not go with --selector', exitCodes.wrongUse);
      const connection = connectionOf(flagsOf(command), io.env);
      const { namespace } = connection;
      await withSession(connection, { io }, async (session) => {
        const absent: string[] = [];
        const remove = async (name: string) => {
          const isThere = await session.client.remove({ namespace, name }, { dryRun });
          if (isThere) io.out(`target/${name} deleted${dryRun ? ' (dry run)' : ''}\n`);
          else absent.push(name);
        };
        for (const name of names) await remove(name);
        if (selector !== undefined) {
          const selection = { names: [], namespace, labelSelector: selector };
          for await (const { metadata } of selectedTargets(session, selection)) await remove(metadata.name);
        }
        if (absent.length > 0) throw noTarget(absent.join(', '), namespace);
      });
    });
