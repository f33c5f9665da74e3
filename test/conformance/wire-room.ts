/**
 * wire-addresses.jsonl and wire-sni.jsonl: probes of names in a network of their own, which has the addresses that the
 * vector says. Without the right to such a network a vector fails.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { compare } from './compare.ts';
import type { Finding, VectorRunner } from './runner.ts';
import type { RoomOutcome, RoomVector } from './wire-room-inside.ts';

const folder = import.meta.dirname;
const insideMsMax = 60_000;

const needs = `a network of its own is needed: Linux with unshare and mount (util-linux) and ip (iproute2), as root or where
unprivileged user namespaces are allowed (on Ubuntu: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0)`;

/** root may lack the right to user namespaces, and does not need them. */
const asRoot: readonly string[] = process.getuid?.() === 0 ? [] : ['--map-root-user'];
/** Where `ip` is, though not for everybody. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

export const runWireRoom: VectorRunner = async (given) => {
  const vector = given as unknown as RoomVector;
  const outcome = await playInside(vector);
  if (isLack(vector, outcome)) return lackFinding(vector, outcome);
  const { failureClass: _, ...seen } = outcome;
  const differences = vector.expectAnyOf.map((expect) => compare('attempt', seen, expect));
  if (differences.includes(undefined)) return undefined;
  const isBeyond = vector.hosts.length > dialedMax && seen.result === 'failure';
  return isBeyond ? { kind: 'byRule', rules: [11] } : differences[0];
};

/** Addresses of a family that are dialed (difference 11). */
const dialedMax = 8;

const lacksRoute = /dial tcp \S+: connect: (network is unreachable|cannot assign requested address)$/;

/** No room has a router, so such a text names what the machine lacks. kubelet's gRPC probe has no text of its own. */
const isLack = ({ probe, expectAnyOf }: RoomVector, { error }: RoomOutcome): boolean =>
  probe.kind === 'grpc' ? lacksRoute.test(error ?? '') : expectAnyOf.every(({ output }) => lacksRoute.test(output));

/** What is the target's failure for kubelet is a prober error here, in the same words (difference 4). */
function lackFinding({ probe, expectAnyOf }: RoomVector, { result, error, failureClass }: RoomOutcome): Finding {
  const isSame = expectAnyOf.every(({ output }) => probe.kind === 'grpc' || output.endsWith(error ?? '?'));
  if (result === 'unknown' && failureClass === 'PROBER' && isSame) return { kind: 'byRule', rules: [4] };
  return `what the machine lacks has to be a prober error: ${JSON.stringify({ result, error, failureClass })}`;
}

async function playInside(vector: RoomVector): Promise<RoomOutcome> {
  const room = await mkdtemp(join(tmpdir(), 'room-'));
  try {
    const files = { network: vector.network, hosts: vector.hosts, 'resolv.conf': ['nameserver 127.0.0.1'] };
    for (const [name, lines] of Object.entries(files)) await writeFile(join(room, name), `${lines.join('\n')}\n`);
    const script = join(folder, 'recorder/room.sh');
    const inside = [process.execPath, join(folder, 'wire-room-inside.ts'), JSON.stringify(vector)];
    const args = [...asRoot, '--net', '--mount', 'sh', script, room, ...inside];
    const options = { env, timeout: insideMsMax, killSignal: 'SIGKILL' } as const;
    const { stdout } = await promisify(execFile)('unshare', args, options);
    return JSON.parse(stdout) as RoomOutcome;
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : String(cause)}\n${needs}`, { cause });
  } finally {
    await rm(room, { recursive: true });
  }
}
