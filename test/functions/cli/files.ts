/** A folder for the files of a test of a command line, and what a program printed about them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { ranCli } from './run.ts';

/** The folder is removed after the tests of the file that calls this. */
export function cliFiles(command: string) {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-cli-'));
  after(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    fileOf(name: string, content: string | Uint8Array): string {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    /** Without the folder in what was printed. */
    async ran(...args: readonly string[]) {
      const { code, out, err } = await ranCli([command, ...args]);
      const short = (text: string) => text.replaceAll(`${folder}/`, '');
      return { code, out: short(out), err: err.map(short) };
    },
  };
}
