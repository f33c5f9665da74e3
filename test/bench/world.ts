/**
 * Where `npm run bench` measures: a network with only loopback, what is probed on the second core and the prober on the
 * first, the programs that it builds, and what the kernel says that a process used.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import nodeOptions from '../../functions/local/node-options.json' with { type: 'json' };
import type { ProductOptions } from '../local/product.ts';

const here = import.meta.dirname;
const root = join(here, '../..');
/** The folder of the programs that were built. Set only in the network of its own. */
const programsFolder = 'PROBELET_BENCH_PROGRAMS';

export const isInNetwork = (): boolean => process.env[programsFolder] !== undefined;

/**
 * Runs this program again where there is only loopback, so that nothing leaves the machine and no port is taken. Builds
 * the other programs before: that may download what they are made from.
 */
export function enterNetwork(): number {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-bench-'));
  try {
    build(folder);
    const up = 'ip link set lo up && exec "$@"';
    const self = [process.execPath, ...process.argv.slice(1)];
    const { status, error } = spawnSync('unshare', ['--map-root-user', '--net', 'sh', '-c', up, 'sh', ...self], {
      stdio: 'inherit',
      env: { ...process.env, [programsFolder]: folder },
    });
    if (error) console.error(`no network of its own: ${error.message}`);
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What the target says of the paced probes since the last reset. */
export type Arrived = {
  readonly arrivals: number;
  readonly paths: number;
  readonly latenessP99Ms: number;
  /** From the reset until the last path was asked for the first time. */
  readonly lastMs: number;
};

export type World = {
  readonly ports: { readonly [kind: string]: number | undefined };
  /** kubelet's probers. */
  readonly peers: string;
  readonly folder: string;
  /** Starts a prober on the first core. */
  start(command: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess;
  reset(): void;
  arrived(periodMs: number): Promise<Arrived>;
  close(): void;
};

export async function startWorld(): Promise<World> {
  const folder = process.env[programsFolder];
  if (folder === undefined) throw new Error('not in a network of its own');
  const programs = programsOf(folder);
  const children: ChildProcess[] = [];
  const pinned = (core: 0 | 1, command: readonly string[], env?: NodeJS.ProcessEnv): ChildProcess => {
    const stdio = ['pipe', core === 0 ? 'ignore' : 'pipe', 'inherit'] as const;
    const child = spawn('taskset', ['-c', `${core}`, ...command], {
      stdio: [...stdio],
      env: { ...process.env, ...env },
    });
    children.push(child);
    return child;
  };
  const target = pinned(1, [programs.target]);
  const said = createInterface(target.stdout as NodeJS.ReadableStream);
  const [http, tcp] = (await nextLine(said)).split(' ').map(Number);
  const servers = pinned(1, [programs.peers, 'serve']);
  const served: object = JSON.parse(await nextLine(createInterface(servers.stdout as NodeJS.ReadableStream)));
  return {
    ports: { http, tcp, ...served },
    peers: programs.peers,
    folder,
    start: (command, env) => pinned(0, command, env),
    reset: () => void target.stdin?.write('reset\n'),
    arrived(periodMs) {
      target.stdin?.write(`report ${periodMs}\n`);
      return nextLine(said).then((line) => JSON.parse(line) as Arrived);
    },
    close() {
      for (const child of children) child.kill();
    },
  };
}

const programsOf = (folder: string) => ({ target: join(folder, 'target'), peers: join(folder, 'peers') });

function build(folder: string): void {
  const programs = programsOf(folder);
  run('cc', ['-O2', '-o', programs.target, join(here, 'target.c'), '-lm']);
  const cwd = join(here, 'peers');
  run('go', ['build', '-mod=readonly', '-o', programs.peers, '.'], { cwd, env: { ...process.env, GOWORK: 'off' } });
}

/** Its standard output. @throws if it fails */
export function run(command: string, args: readonly string[], options: object = {}): string {
  const { status, error, stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  if (error || status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? `exit code ${status}`}`);
  return stdout;
}

async function nextLine(lines: Interface): Promise<string> {
  const [line] = await once(lines, 'line');
  return String(line);
}

/** The program of `npm start`, and what it becomes. */
export function startOfProduct(): { readonly command: readonly string[]; readonly env: NodeJS.ProcessEnv } {
  const { options, variables } = nodeOptions;
  return { command: [process.execPath, ...options, join(root, 'functions/local/start.mjs')], env: variables };
}

/** The same for `startProduct`, with further options of Node. */
export function productOptions(flags: readonly string[] = [], more: NodeJS.ProcessEnv = {}): ProductOptions {
  const { command, env } = startOfProduct();
  return {
    command: [...command.slice(0, -1), ...flags],
    program: command.at(-1) ?? '',
    env: { ...process.env, ...env, ...more },
  };
}

const ticksPerSecond = 100;

/** CPU of all its threads in ms, user and system. */
export function cpuMsOf({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000) / ticksPerSecond;
}
