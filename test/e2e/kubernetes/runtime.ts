/**
 * A container runtime: each container is a process with a root, mounts and process numbers of its own, in the network
 * namespace of its Pod. Images are not read: agnhost is Kubernetes' own, built from its module; every other program is
 * this machine's.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { nodeEnd, podEnd } from './network.ts';
import type { ContainerSpec } from './spec.ts';

export type End = { readonly exitCode: number; readonly finishedAtMs: number };

export type Running = {
  readonly containerID: string;
  readonly startedAtMs: number;
  readonly ended: Promise<End>;
  /** Sends SIGTERM, and SIGKILL if the container has not ended so long after. */
  stop(graceSeconds: number): Promise<End>;
};

/** Where the containers of a Pod run. */
export type Sandbox = {
  /** Resolves once the container runs. */
  start(container: ContainerSpec): Promise<Running>;
  /** Ends all containers at once, and the network of the Pod. */
  remove(): void;
};

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
const linked = ['bin', 'lib', 'lib64', 'sbin'];
const folders = ['dev', 'etc', 'proc', 'root', 'run', 'tmp', 'usr', 'var'];

/** ROOT AGNHOST COMMAND…: writes to descriptor 3 when only the command itself is left to be started. */
const enter = `
set -e
root=$1 agnhost=$2
shift 2
for folder in usr etc dev; do mount --rbind "/$folder" "$root/$folder"; done
mount -t proc proc "$root/proc"
mount --bind "$agnhost" "$root/agnhost"
exec chroot "$root" /bin/sh -c 'echo started >&3; exec 3>&-; exec "$@"' sh "$@"
`;

/** What an exec probe runs in place of its command: PIDFILE COMMAND… */
const execScript = `#!/bin/sh
read -r pid <"$1" || exit 126
shift
exec nsenter --target "$pid" --mount --net --pid --root --wd -- "$@"
`;

export class Runtime {
  readonly #folder: string;
  readonly #agnhost: string;
  /** The program of every exec probe. */
  readonly execProgram: string;

  constructor(folder: string, agnhost: string) {
    this.#folder = folder;
    this.#agnhost = agnhost;
    this.execProgram = join(folder, 'exec-in');
    writeFileSync(this.execProgram, execScript, { mode: 0o755 });
  }

  /** The words before a command that is to run in the container of this name that runs now. */
  execIn = (uid: string, container: string): readonly string[] => [this.execProgram, this.#pidFile(uid, container)];

  #pidFile = (uid: string, container: string): string => join(this.#folder, uid, `${container}.pid`);

  /** `number`: of the Pod, for its network. */
  async sandbox(uid: string, number: number): Promise<Sandbox> {
    const folder = join(this.#folder, uid);
    mkdirSync(folder);
    const script = `${podEnd(number)} && echo started >&3 && exec 3>&- && exec "$0" pause`;
    const pause = await spawned('unshare', ['--net', 'sh', '-c', script, this.#agnhost], join(folder, 'sandbox.log'));
    await nodeEnd(number);
    const containers = new Set<ChildProcess>();
    return {
      start: async (container) => {
        const root = rootIn(folder, container.name);
        const space = ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh'];
        const args = [`--net=/proc/${pause.pid}/ns/net`, '--', ...space, root, this.#agnhost, ...commandOf(container)];
        const child = await spawned('nsenter', args, join(folder, `${container.name}.log`));
        containers.add(child);
        child.once('exit', () => containers.delete(child));
        return runningIn(child, this.#pidFile(uid, container.name));
      },
      remove: () => {
        for (const child of [...containers, pause]) child.kill('SIGKILL');
      },
    };
  }
}

const isAgnhost = (image: string): boolean => /\bagnhost\b|\bpause\b/.test(image);

/** The entry point of the image, unless the container has a command. */
const commandOf = ({ image = '', command, args = [] }: ContainerSpec): readonly string[] => [
  ...(command ?? (isAgnhost(image) ? ['/agnhost'] : [])),
  ...args,
];

/** A new root for the next container of this name. */
function rootIn(folder: string, container: string): string {
  const root = join(folder, `${container}-${randomBytes(4).toString('hex')}`);
  mkdirSync(root);
  for (const name of folders) mkdirSync(join(root, name));
  for (const name of linked) symlinkSync(`usr/${name}`, join(root, name));
  writeFileSync(join(root, 'agnhost'), '');
  return realpathSync(root);
}

/** Resolves once the program says on descriptor 3 that it has started. @throws if it ends before */
async function spawned(program: string, args: readonly string[], log: string): Promise<ChildProcess> {
  const output = openSync(log, 'a');
  const env = { PATH: path, HOME: '/root' };
  const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', output, output, 'pipe'] });
  closeSync(output);
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${program} ended before it had started: ${readFileSync(log, 'utf8')}`);
  });
  const started = once(child.stdio[3] as Readable, 'data');
  // Of the two, one is not waited for any more.
  ended.catch(() => undefined);
  started.catch(() => undefined);
  await Promise.race([started, ended]);
  return child;
}

function runningIn(child: ChildProcess, pidFile: string): Running {
  const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
  writeFileSync(pidFile, `${pid}\n`);
  let isOver = false;
  const ended = once(child, 'exit').then((exit): End => {
    const [code, signal] = exit as [number | null, NodeJS.Signals | null];
    isOver = true;
    rmSync(pidFile, { force: true });
    return { exitCode: code ?? 128 + (signal ? constants.signals[signal] : 0), finishedAtMs: Date.now() };
  });
  const send = (signal: NodeJS.Signals) => {
    try {
      if (!isOver) process.kill(pid, signal);
    } catch {
      // It has just ended.
    }
  };
  return {
    containerID: `containerd://${randomBytes(32).toString('hex')}`,
    startedAtMs: Date.now(),
    ended,
    async stop(graceSeconds) {
      send('SIGTERM');
      const tooLate = setTimeout(() => send('SIGKILL'), graceSeconds * 1_000);
      const end = await ended;
      clearTimeout(tooLate);
      return end;
    },
  };
}
