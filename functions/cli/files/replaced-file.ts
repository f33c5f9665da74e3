/** Replaces a file as a whole: no reader meets a part, and a failure leaves the file as it was. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { CliError } from '../words/exit-codes.ts';

/** `path`: of the file itself, not of a link to it. @throws CliError */
export function replaceFile(path: string, text: string, mode: number): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode, flag: 'wx', flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CliError(`${path} cannot be written (${codeOf(error)}); correct the permissions of its folder`);
  }
}
