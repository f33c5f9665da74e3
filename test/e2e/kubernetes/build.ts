/** Kubernetes' cases and its agnhost, built from its module. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

const module = join(import.meta.dirname, 'go');
/** Packages, each with about so many that it needs and that a machine without Go's cache has to compile. */
const packages = {
  agnhost: { path: 'k8s.io/kubernetes/test/images/agnhost', needs: 1_330 },
  cases: { path: '.', needs: 620 },
} as const;
/** What is up to date there is not linked again. */
const programs = join(import.meta.dirname, '../../../node_modules/.cache/kubernetes-e2e');
/** Neither optimized nor made for a debugger, which takes two thirds of the time: not these programs are measured. */
const fast = ['-gcflags=all=-N -l', '-ldflags=-s -w'];
const sayEveryMs = 20_000;
/** Of a shell: the program does not exist. */
const notFound = 127;

/** The folder of the programs `cases` and `agnhost`. @throws Error with what Go says */
export async function buildPrograms(progress: (line: string) => void): Promise<string> {
  mkdirSync(programs, { recursive: true });
  for (const name of Object.keys(packages) as (keyof typeof packages)[]) await build(name, progress);
  return programs;
}

/** One build at a time, which gives way to what measures time. */
async function build(name: keyof typeof packages, progress: (line: string) => void): Promise<void> {
  const { path, needs } = packages[name];
  const go = ['nice', '-n', '10', 'go', 'build', ...fast, '-v', '-o', join(programs, name), path];
  // A workspace around the checkout would take the module for one of its own.
  const env = { ...process.env, GOWORK: 'off' };
  const child = spawn('flock', ['--no-fork', join(programs, 'lock'), ...go], {
    cwd: module,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const interrupt = () => void child.kill('SIGINT');
  process.on('exit', interrupt);
  const lines: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trimEnd().split('\n')));
  const timer = setInterval(() => progress(`building ${name}: ${lines.length} of up to ${needs} packages`), sayEveryMs);
  const [code] = (await once(child, 'close').finally(() => clearInterval(timer))) as [number | null];
  process.off('exit', interrupt);
  if (code === notFound) throw new Error('no go found; the cases need the Go of their go.mod, see https://go.dev/dl');
  if (code !== 0) throw new Error(lines.slice(-20).join('\n'));
}
