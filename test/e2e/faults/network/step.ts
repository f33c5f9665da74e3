/** The product in its own room (see link.ts) for each way of cutting its network. */
import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { answerOf } from '../../../support/children.ts';
import type { Figure } from '../../../support/figures.ts';
import type { Length, Step } from '../step.ts';
import { type Cut, cuts } from './link.ts';
import type { Told } from './room.ts';

const needs = `A network of its own can be had on Linux with unshare and mount (util-linux) and ip (iproute2), as root or where
unprivileged user namespaces are allowed (on Ubuntu: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0).`;

/** root may lack the right to user namespaces, and does not need them. */
const asRoot: readonly string[] = process.getuid?.() === 0 ? [] : ['--map-root-user'];
/** Where `ip` is, though not for everybody. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const room: readonly string[] = [...asRoot, '--net', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child'];

export const networkStep: Step = {
  name: 'network',
  title: 'A network that is cut under 500 targets',
  async run(length) {
    requireRooms();
    return (await Promise.all(cuts.map((cut) => cutIn(cut, length)))).flat();
  },
};

/** Tries all that a room needs, and leaves nothing behind. */
function requireRooms(): void {
  const all =
    'ip link set lo up && ip link add try0 type veth peer name try1 && mount --bind /dev/null /etc/resolv.conf';
  try {
    execFileSync('unshare', [...room, 'sh', '-c', all], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : String(cause)}\n${needs}`, { cause });
  }
}

async function cutIn(cut: Cut, length: Length): Promise<readonly Figure[]> {
  const path = fileURLToPath(new URL('room.ts', import.meta.url));
  const inside = spawn('unshare', [...room, process.execPath, path, cut, length], {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const outcome = (await answerOf(inside).finally(() => inside.kill('SIGKILL'))) as Told;
  if ('problem' in outcome) throw new Error(`${cut}: ${outcome.problem}`);
  return outcome.figures;
}
