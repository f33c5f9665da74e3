/** Probes without a pause, so many in flight: CPU of one probe of the product and of kubelet's prober, in turn. */
import { join } from 'node:path';
import type { TlsPaths } from './tls-paths.ts';
import { run, startOfProduct, type World } from './world.ts';

const probes = { http: 20_000, tcp: 20_000, grpc: 10_000, https: 5_000 };
const inFlight = 64;
/** On a busy machine the server does not accept every connection in time. More say that something else is wrong. */
const failedShareMax = 0.01;

export type SaturatedKind = keyof typeof probes;
export const saturatedKinds = Object.keys(probes) as SaturatedKind[];

/** CPU of one probe in µs. `path`: which way the product's probes took, where there are two. */
export type Pair = {
  readonly ours: number;
  readonly theirs: number;
  readonly path: string;
  /** Of HTTPS: the product with TLS sessions that are resumed. */
  readonly resumed?: Resumed;
};

/** `share`: of all handshakes, those that were resumed. */
export type Resumed = { readonly cpuMicros: number; readonly share: number };

/**
 * Left out of the options of `npm start`. With them V8 collects its whole heap each time that it has doubled: the 10 MB
 * of this process, which probes without a pause, twice a second. The paced rounds have them.
 */
const ofLargeHeaps: ReadonlySet<string> = new Set(['--optimize-for-size', '--heap-growing-percent=100']);

/** `isTurned`: the peer is the first. */
export function saturatedRound(world: World, kind: SaturatedKind, isTurned: boolean): Pair {
  const args = [kind, `${world.ports[kind]}`, `${probes[kind]}`, `${inFlight}`];
  const flags = startOfProduct().command.filter((word) => word.startsWith('--') && !ofLargeHeaps.has(word));
  const product = (...given: readonly string[]) =>
    measured([process.execPath, ...flags, join(import.meta.dirname, 'peers/prober.ts'), ...given]);
  const ours = () => product(...args);
  const theirs = () => measured([world.peers, 'saturated', ...args]);
  const [first, second] = isTurned ? [theirs(), ours()] : [ours(), theirs()];
  const [own, peer] = isTurned ? [second, first] : [first, second];
  const pair = { ours: own.cpuMicros, theirs: peer.cpuMicros };
  if (kind !== 'https') return { ...pair, path: '' };
  return { ...pair, path: pathOf(own), resumed: resumedOf(product('https-resumed', ...args.slice(1))) };
}

type Figures = {
  readonly probes: number;
  readonly failed: number;
  readonly cpuMicros: number;
  /** Of the product. */
  readonly tls?: TlsPaths;
};

const pathOf = ({ tls = noPaths }: Figures): string =>
  `; OpenSSL read ${tls.byItself} connections by itself, ${tls.forIt} were read for it`;

const noPaths: TlsPaths = { byItself: 0, forIt: 0, resumed: 0 };

const resumedOf = ({ cpuMicros, tls = noPaths }: Figures): Resumed => ({
  cpuMicros,
  share: tls.resumed / (tls.byItself + tls.forIt),
});

function measured(command: readonly string[]): Figures {
  const figures: Figures = JSON.parse(run('taskset', ['-c', '0', ...command]));
  if (figures.failed > failedShareMax * figures.probes)
    throw new Error(`${figures.failed} of ${figures.probes} probes failed: ${command.join(' ')}`);
  return figures;
}
