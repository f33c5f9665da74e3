/**
 * `probelet convert`: prints the targets that files become, as YAML. What is approximated or left out is on the
 * standard error stream. Exit code 1: a file is wrong, or has no target.
 */

import { Command, InvalidArgumentError, Option } from 'commander';
import { isDnsLabel } from '../../../shared/core/spec/names.ts';
import { type ConvertedTarget, tallyOf } from '../../../shared/manifest/convert.ts';
import { membersOf } from '../../../shared/manifest/values.ts';
import {
  convertedFiles,
  type FileOptions,
  hostOption,
  reportErrors,
  reportNotes,
  tallyText,
  withFiles,
} from '../files/manifest-files.ts';
import { targetsOf } from '../files/wanted-targets.ts';
import type { CommandSetting } from '../io.ts';
import { documentMark, yamlText } from '../printing/documents.ts';
import { joined } from '../printing/printable.ts';
import { exitCodes } from '../words/exit-codes.ts';

type Options = FileOptions & { readonly host?: string; readonly namespace?: string };

const examples = `
Examples:
  probelet convert -f deployment.yaml --host 10.0.0.1
  helm template web ./chart -n shop | probelet convert -f - -n shop
  probelet convert -f compose.yaml > targets.yaml
  probelet convert -f manifests/ -R`;

export const convertCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(new Command('convert'))
    .description('print the targets that files become: manifests of Kubernetes, Compose and Gatus files')
    .addOption(hostOption())
    .addOption(new Option('-n, --namespace <name>', 'the namespace of what names none').argParser(namespaceName))
    .addHelpText('after', examples)
    .action(async ({ filename, recursive, ...format }: Options) => {
      const conversions = await convertedFiles({ filename, recursive }, { io, format });
      reportErrors(conversions, io.err);
      if (conversions.some(({ kind }) => kind === 'invalid')) return endWith(exitCodes.failed);
      reportNotes(conversions, io.err);
      io.err(tallyText(tallyOf(conversions)));
      const targets = targetsOf(conversions);
      const printed = targets.map((target) =>
        format.namespace === undefined ? target.manifest : withNamespace(target),
      );
      io.out(joined(printed.map(yamlText), documentMark));
      if (targets.length > 0) return;
      io.err('No file has a target.');
      endWith(exitCodes.failed);
    });

function namespaceName(text: string): string {
  if (isDnsLabel(text)) return text;
  throw new InvalidArgumentError('must be a DNS label of at most 63 characters.');
}

const withNamespace = ({ manifest, namespace }: ConvertedTarget): unknown => ({
  ...membersOf(manifest),
  metadata: { ...membersOf(membersOf(manifest).metadata), namespace },
});
