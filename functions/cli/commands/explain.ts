/** `probelet explain`: the fields of a target, as `kubectl explain` prints them. */

import { Command } from 'commander';
import type { CommandSetting } from '../io.ts';
import { explained } from '../printing/explaining.ts';
import { ownText } from '../printing/printable.ts';

const examples = `
Examples:
  probelet explain target
  probelet explain target.spec.containers.readinessProbe
  probelet explain target.spec --recursive`;

export const explainCommand = ({ io }: CommandSetting): Command =>
  new Command('explain')
    .description('print the fields of a target, with their types and what they mean')
    .argument('<field>', 'target, or a field of it, as in target.spec.readinessProbe')
    .option('--recursive', 'the fields of fields, too, without what they mean')
    .addHelpText('after', examples)
    .action((path: string, { recursive = false }: { readonly recursive?: boolean }) =>
      io.out(ownText(explained(path, recursive))),
    );
