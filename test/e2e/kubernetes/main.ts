/**
 * `npm run e2e:kubernetes [-- --lifecycle reported|static] [--only TEXT] [--slice]`: Kubernetes' own end-to-end cases
 * of container probes, compiled from its module, against `npm start` in the place of kubelet's prober. Ends with
 * `N passed, N failed`; exit code 0: all passed, 1: some failed, 2: they cannot be played.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lifecycle as lifecycles } from '../../../shared/schema/terms.ts';
import { buildPrograms } from './build.ts';
import { chosenOf } from './player.ts';
import type { Asked } from './room.ts';

const usage = 'usage: npm run e2e:kubernetes -- [--lifecycle reported|static] [--only TEXT] [--slice]';
const needs = `The node needs namespaces of its own: on Linux with unshare, nsenter, mount and flock (util-linux) and ip
(iproute2), as root.`;
const notPlayed = 2;
/** Of the folder's removal, while processes in it still end. */
const maxRetries = 10;

/** Where `ip` is, though not for everybody. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const room = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
/**
 * The first process of the room waits for whatever loses its parent. A container cannot end before each process in it
 * is waited for, commands of exec probes that were killed included.
 */
const init = '"$@"; exit $?';

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(notPlayed);
}

function parse() {
  try {
    return parseArgs({
      options: {
        lifecycle: { type: 'string', default: 'reported' },
        only: { type: 'string', default: '' },
        slice: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

/** Tries all that a node and a Pod need, and leaves nothing behind. */
function requireRoom(): void {
  const link = 'ip link set lo up && ip link add try0 type veth peer name try1';
  try {
    execFileSync('unshare', [...room, 'sh', '-c', `${link} && nsenter --version && flock --version`], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (error) {
    stop(`${error instanceof Error ? error.message : String(error)}\n${needs}`);
  }
}

const values = parse();
const lifecycle =
  lifecycles.options.find((each) => each === values.lifecycle) ?? stop(`no lifecycle ${values.lifecycle}\n${usage}`);
const chosen = { lifecycle, only: values.only, isSlice: values.slice };
if (chosenOf(chosen).length === 0) stop(`no case has ${values.only} in its name\n${usage}`);
requireRoom();
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    isInterrupted = true;
    process.exit(1);
  });
const progress = (line: string) => void process.stderr.write(`${line}\n`);
progress("building Kubernetes' cases and agnhost; the first time takes minutes");
const programs = await buildPrograms(progress).catch((error: Error) => stop(error.message));
const folder = mkdtempSync(join(tmpdir(), 'kubernetes-e2e-'));
const asked: Asked = { ...chosen, programs, folder };
const inside = [process.execPath, join(import.meta.dirname, 'room.ts'), JSON.stringify(asked)];
const node = spawn('unshare', [...room, 'sh', '-c', init, 'sh', ...inside], {
  env: { ...env, TMPDIR: folder },
  stdio: ['ignore', 'inherit', 'inherit'],
});
// With unshare its child ends, and with that all processes of the room. The logs of cases that failed are kept.
process.on('exit', () => {
  node.kill('SIGKILL');
  if (isInterrupted || node.exitCode === 0) rmSync(folder, { recursive: true, force: true, maxRetries });
});
const [code] = (await once(node, 'exit')) as [number | null];
process.exitCode = code ?? 1;
