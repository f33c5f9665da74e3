/**
 * The network of the node: a namespace of its own, in which everything runs, and one for each Pod, linked to it by a
 * pair of interfaces. So a Pod's servers listen on the ports that its manifest names, and the machine's network is not
 * touched. The kernel removes a namespace with its last process.
 */
import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';

const nodeAddress = '10.88.0.1';
/** Answers as long as the node's network does: the canary of the prober. */
export const canary = { host: nodeAddress, port: 7 } as const;
const podsMax = 65_000;

/** `number`: from 1 on, in the order of creation. */
export function podAddress(number: number): string {
  if (number > podsMax) throw new Error(`more than ${podsMax} Pods`);
  return `10.89.${Math.floor(number / 250)}.${1 + (number % 250)}`;
}

const linkOf = (number: number): string => `pod${number}`;

/** Once, in the node's namespace. */
export function openNode(): void {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  execFileSync('ip', ['addr', 'add', `${nodeAddress}/32`, 'dev', 'lo']);
}

/** Shell commands for a new namespace: they link it to the node, whose first process has the number 1. */
export const podEnd = (number: number): string =>
  [
    'ip link set lo up',
    `ip link add eth0 type veth peer name ${linkOf(number)} netns 1`,
    `ip addr add ${podAddress(number)}/32 dev eth0`,
    'ip link set eth0 up',
    `ip route add ${nodeAddress} dev eth0`,
    `ip route add default via ${nodeAddress}`,
  ].join(' && ');

const ip = (...args: readonly string[]) => promisify(execFile)('ip', [...args]);

/** The node's end of the same link. */
export async function nodeEnd(number: number): Promise<void> {
  await ip('link', 'set', linkOf(number), 'up');
  await ip('route', 'add', podAddress(number), 'dev', linkOf(number), 'src', nodeAddress);
}
