/** Probes without a pause, so many in flight: CPU of one probe of the product and of kubelet's prober, in turn. */
import { join } from 'node:path';
import { run, startOfProduct, type World } from './world.ts';

const probes = { http: 20_000, tcp: 20_000, grpc: 10_000, https: 5_000 };
const inFlight = 64;
/** On a busy machine the server does not accept every connection in time. More say that something else is wrong. */
const failedShareMax = 0.01;

export type SaturatedKind = keyof typeof probes;
export const saturatedKinds = Object.keys(probes) as SaturatedKind[];

/** CPU of one probe in µs. */
export type Pair = { readonly ours: number; readonly theirs: number };

/** `isTurned`: the peer is the first. */
export function saturatedRound(world: World, kind: SaturatedKind, isTurned: boolean): Pair {
  const args = [kind, `${world.ports[kind]}`, `${probes[kind]}`, `${inFlight}`];
  const flags = startOfProduct().command.filter((word) => word.startsWith('--'));
  const ours = () => measured([process.execPath, ...flags, join(import.meta.dirname, 'peers/prober.ts'), ...args]);
  const theirs = () => measured([world.peers, 'saturated', ...args]);
  return isTurned ? { theirs: theirs(), ours: ours() } : { ours: ours(), theirs: theirs() };
}

type Figures = { readonly probes: number; readonly failed: number; readonly cpuMicros: number };

function measured(command: readonly string[]): number {
  const figures: Figures = JSON.parse(run('taskset', ['-c', '0', ...command]));
  if (figures.failed > failedShareMax * figures.probes)
    throw new Error(`${figures.failed} of ${figures.probes} probes failed: ${command.join(' ')}`);
  return figures.cpuMicros;
}
