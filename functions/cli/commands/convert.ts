/**
 * `probelet convert`: prints the targets that files become, as YAML. What is approximated or left out is on the
 * standard error stream. Exit code 1: a file is wrong, or has no target.
 */
import { Command } from 'commander';
import { stringify } from 'yaml';
import { exitCodes } from '../exit-codes.ts';
import {
  convertedFiles,
  type FileOptions,
  hostOption,
  reportErrors,
  reportNotes,
  withFiles,
} from '../manifest-files.ts';
import type { CommandSetting } from '../program.ts';
import { targetsOf } from '../wanted-targets.ts';

type Options = FileOptions & { readonly host?: string };

const examples = `
Examples:
  probelet convert -f deployment.yaml --host 10.0.0.1
  helm template web ./chart | probelet convert -f -
  probelet convert -f compose.yaml > targets.yaml
  probelet convert -f manifests/ -R`;

export const convertCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(new Command('convert'))
    .description('print the targets that files become: manifests of Kubernetes, Compose and Gatus files')
    .addOption(hostOption())
    .addHelpText('after', examples)
    .action(async ({ filename, recursive, ...format }: Options) => {
      const conversions = await convertedFiles({ filename, recursive }, { io, format });
      reportErrors(conversions, io.err);
      if (conversions.some(({ kind }) => kind === 'invalid')) return endWith(exitCodes.failed);
      reportNotes(conversions, io.err);
      const targets = targetsOf(conversions);
      io.out(targets.map(({ manifest }) => stringify(manifest, { lineWidth: 0 })).join('---\n'));
      if (targets.length > 0) return;
      io.err('No file has a target.');
      endWith(exitCodes.failed);
    });
