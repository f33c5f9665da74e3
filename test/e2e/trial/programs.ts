/** The real programs that the trial probes: where they are, and how each runs as a child in its own process group. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The Debian package of each program. */
const packages = {
  nginx: 'nginx-light',
  haproxy: 'haproxy',
  'redis-server': 'redis-server',
  'redis-cli': 'redis-server',
  initdb: 'postgresql',
  postgres: 'postgresql',
  pg_isready: 'postgresql',
} as const;

export type ProgramName = keyof typeof packages;

const names = Object.keys(packages) as ProgramName[];

/** Debian keeps PostgreSQL's programs off the path, and wraps `pg_isready` there. */
const folders = [
  ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
  ...(process.env.PATH ?? '').split(':'),
  '/usr/sbin',
];

const find = (name: ProgramName): string | undefined =>
  folders.map((folder) => join(folder, name)).find((path) => existsSync(path));

/** The path of a program that `howToInstall` does not miss. */
export const pathOf = (name: ProgramName): string => find(name) ?? name;

/** What to do about the programs that are not installed; undefined: all are. */
export function howToInstall(): string | undefined {
  const missing = names.filter((name) => find(name) === undefined);
  const wanted = new Set(missing.map((name) => packages[name]));
  if (missing.length === 0) return undefined;
  return `no ${missing.join(', ')} found; on Debian: apt-get install -y --no-install-recommends ${[...wanted].join(' ')}`;
}

/** PostgreSQL refuses to run as root. */
const nobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const root = mkdtempSync(join(tmpdir(), 'probelet-trial-'));
chmodSync(root, 0o711);
const running = new Set<ChildProcess>();
// An interrupted script does not interrupt children in other process groups.
process.on('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL');
  rmSync(root, { recursive: true, force: true });
});
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => process.exit(code));

/** Creates a folder that is removed when this process exits. */
export function folderOf(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  if (nobody.uid !== undefined) chownSync(folder, nobody.uid, nobody.gid);
  return folder;
}

export type Program = {
  start(): void;
  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<void>;
  /** Signals the process alone, as `kill` does. */
  signal(signal: NodeJS.Signals): void;
  /** Sends SIGSTOP to every process of the group. */
  pause(): void;
  resume(): void;
  /** What it has printed. */
  printed(): string;
};

export type Command = {
  readonly name: ProgramName;
  readonly args: readonly string[];
  readonly folder: string;
  readonly isUnprivileged?: boolean;
};

/** A program that takes longer to stop is killed. */
const stopMsMax = 20_000;

/** A program that can be started again after it was stopped. Its output goes to a file in its folder. */
export function programOf(command: Command): Program {
  const log = join(command.folder, 'output.log');
  let child: ChildProcess | undefined;
  return {
    start() {
      child = spawnInGroup(command, log);
    },
    async stop() {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const exit = new Promise((resolve) => child?.once('exit', resolve));
      const tooLate = setTimeout(() => child && signalGroup(child, 'SIGKILL'), stopMsMax);
      child.kill('SIGTERM');
      await exit;
      clearTimeout(tooLate);
    },
    signal: (signal) => void child?.kill(signal),
    pause: () => void (child && signalGroup(child, 'SIGSTOP')),
    resume: () => void (child && signalGroup(child, 'SIGCONT')),
    printed: () => readFileSync(log, 'utf8'),
  };
}

/** Runs a program until it exits. Throws if its exit code is not 0. */
export async function runOnce(command: Command): Promise<void> {
  const log = join(command.folder, 'once.log');
  const child = spawnInGroup(command, log);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${command.name} ended with ${code}: ${readFileSync(log, 'utf8')}`);
}

function spawnInGroup({ name, args, folder, isUnprivileged = false }: Command, log: string): ChildProcess {
  const output = openSync(log, 'a');
  const child = spawn(pathOf(name), args, {
    cwd: folder,
    detached: true,
    stdio: ['ignore', output, output],
    ...(isUnprivileged && nobody),
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has just ended.
  }
}
