/**
 * `npm run convert -- -f FILE [--host HOST]`: prints the targets that files become, as YAML. What is approximated or
 * left out is on the standard error stream. Exit code 0; 1: a file is wrong or has no target; 2: wrong use.
 */
import { stringify } from 'yaml';
import {
  convertedFiles,
  exitCodeOf,
  exitCodes,
  manifestArguments,
  type Output,
  reportErrors,
  reportNotes,
} from './manifest-files.ts';

const usage = 'Usage: npm run --silent convert -- -f FILE [-f FILE] [--host HOST]';

export const convert = (args: readonly string[], { out, err }: Output): number =>
  exitCodeOf(
    () => {
      const { files, options } = manifestArguments(args);
      const conversions = convertedFiles(files, options);
      reportErrors(conversions, err);
      if (conversions.some(({ kind }) => kind === 'invalid')) return exitCodes.failed;
      reportNotes(conversions, err);
      const targets = conversions.flatMap((each) => (each.kind === 'converted' ? each.targets : []));
      out(targets.map(({ manifest }) => stringify(manifest, { lineWidth: 0 })).join('---\n'));
      if (targets.length === 0) err('No file has a target.');
      return targets.length === 0 ? exitCodes.failed : exitCodes.ok;
    },
    usage,
    err,
  );

if (import.meta.main)
  process.exitCode = convert(process.argv.slice(2), {
    out: (text) => process.stdout.write(text),
    err: (line) => console.error(line),
  });
