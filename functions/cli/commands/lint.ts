/**
 * `probelet lint`: likely mistakes in the probes of files, with reason and mend. Exit code 1: a file is wrong, has no
 * target, or has a finding of the severity in `--fail-on`.
 */
import { Command, Option } from 'commander';
import type { Severity } from '../../../shared/core/spec/lint.ts';
import { type FileFinding, findingsOf, sarifLog } from '../../../shared/manifest/findings.ts';
import {
  anyHost,
  convertedFiles,
  type FileOptions,
  hostOption,
  placeText,
  reportErrors,
  withFiles,
} from '../files/manifest-files.ts';
import { targetsOf } from '../files/wanted-targets.ts';
import type { CommandSetting } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import { exitCodes } from '../words/exit-codes.ts';

/** For each value of `--fail-on` the severities that fail. */
const failing: { readonly [value: string]: readonly Severity[] } = {
  note: ['note', 'warning'],
  warning: ['warning'],
  never: [],
};

type Options = FileOptions & {
  readonly host?: string;
  readonly failOn: string;
  readonly output: 'text' | 'sarif';
};

const examples = `
Examples:
  probelet lint -f deployment.yaml --fail-on note
  probelet lint -f manifests/ -R
  probelet lint -f deployment.yaml -o sarif > findings.sarif`;

export const lintCommand = ({ io, endWith }: CommandSetting): Command =>
  withFiles(new Command('lint'))
    .description('likely mistakes in the probes of files, each with its reason and its mend')
    .addOption(hostOption())
    .addOption(
      new Option('--fail-on <severity>', 'the least severity that makes the exit code 1')
        .choices(Object.keys(failing))
        .default('warning'),
    )
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'sarif']).default('text'))
    .addHelpText('after', examples)
    .action(async ({ filename, recursive, failOn, output, host = anyHost }: Options) => {
      const conversions = await convertedFiles({ filename, recursive }, { io, format: { host, keepsCommands: true } });
      const targets = targetsOf(conversions);
      const errors = conversions.flatMap((each) => (each.kind === 'invalid' ? each.errors : []));
      const findings = targets.flatMap(findingsOf);
      if (output === 'sarif') io.out(documentText(sarifLog(findings, errors), 'json'));
      else for (const finding of findings) io.line(findingText(finding));
      reportErrors(conversions, io.err);
      if (targets.length === 0 && errors.length === 0) io.err('No file has a target.');
      const isFailed = targets.length === 0 || findings.some(({ severity }) => failing[failOn]?.includes(severity));
      if (isFailed || errors.length > 0) endWith(exitCodes.failed);
    });

const findingText = (finding: FileFinding): string =>
  `${placeText(finding)}: ${finding.severity} ${finding.rule}: ${finding.field} ${finding.reason}; mend: ${finding.mend}`;
