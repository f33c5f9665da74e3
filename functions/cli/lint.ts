/**
 * `npm run lint:manifests -- -f FILE`: likely mistakes in the probes of files, with reason and mend. Exit code 0; 1: a
 * file is wrong, has no target, or has a finding of the severity in `--fail-on`; 2: wrong use.
 */
import type { Severity } from '../../shared/core/lint.ts';
import { type FileFinding, findingsOf } from '../../shared/manifest/findings.ts';
import { sarifLog } from '../../shared/manifest/sarif.ts';
import {
  convertedFiles,
  exitCodeOf,
  exitCodes,
  manifestArguments,
  type Output,
  placeText,
  reportErrors,
  WrongUse,
} from './manifest-files.ts';

const usage =
  'Usage: npm run --silent lint:manifests -- -f FILE [-f FILE] [--fail-on note|warning|never] [--output text|sarif]';

/** No finding depends on the address, so what names none is judged all the same (RFC 2606). */
const anyHost = 'host.invalid';

/** For each value of `--fail-on` the severities that fail. */
const failing: { readonly [value: string]: readonly Severity[] } = {
  note: ['note', 'warning'],
  warning: ['warning'],
  never: [],
};

const outputs = ['text', 'sarif'];

export const lint = (args: readonly string[], { out, err }: Output): number =>
  exitCodeOf(
    () => {
      const { files, options, others } = manifestArguments(args, ['fail-on', 'output']);
      const { 'fail-on': failOn = 'warning', output = 'text' } = others;
      const severities = Object.hasOwn(failing, failOn) ? failing[failOn] : undefined;
      if (!severities) throw new WrongUse(`--fail-on must be one of ${Object.keys(failing).join(', ')}`);
      if (!outputs.includes(output)) throw new WrongUse(`--output must be one of ${outputs.join(', ')}`);
      const conversions = convertedFiles(files, { host: anyHost, keepsCommands: true, ...options });
      const targets = conversions.flatMap((each) => (each.kind === 'converted' ? each.targets : []));
      const errors = conversions.flatMap((each) => (each.kind === 'invalid' ? each.errors : []));
      const findings = targets.flatMap(findingsOf);
      if (output === 'sarif') out(`${JSON.stringify(sarifLog({ findings, errors }), null, 2)}\n`);
      else out(findings.map((finding) => `${findingText(finding)}\n`).join(''));
      reportErrors(conversions, err);
      if (targets.length === 0 && errors.length === 0) err('No file has a target.');
      const isFailed = targets.length === 0 || findings.some(({ severity }) => severities.includes(severity));
      return isFailed || errors.length > 0 ? exitCodes.failed : exitCodes.ok;
    },
    usage,
    err,
  );

const findingText = (finding: FileFinding): string =>
  `${placeText(finding)}: ${finding.severity} ${finding.rule}: ${finding.field} ${finding.reason}; mend: ${finding.mend}`;

if (import.meta.main)
  process.exitCode = lint(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (line) => console.error(line),
  });
