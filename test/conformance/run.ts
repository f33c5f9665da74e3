/** Reads a folder of vectors and gives each to the runner of its family. */
import { join } from 'node:path';
import { apiApp } from '../../shared/api/app.ts';
import { decodeManifest } from '../../shared/api/schema/decode-manifest.ts';
import { specView } from '../../shared/api/targets/target-view.ts';
import {
  containersReadyCondition,
  podInitializedCondition,
  podReadyCondition,
} from '../../shared/core/kubelet/conditions.ts';
import { updatePodStatus } from '../../shared/core/kubelet/pod-status.ts';
import { nextStatus } from '../../shared/core/kubelet/status-update.ts';
import { newTargetTicker, passTime, takeWake } from '../../shared/core/kubelet/ticker.ts';
import { decideGate, reduce } from '../../shared/core/kubelet/worker.ts';
import { ShardLoader } from '../../shared/holder/load.ts';
import { adoptTarget } from '../../shared/holder/probing/reconcile.ts';
import { Worker } from '../../shared/holder/probing/worker.ts';
import { runShard } from '../../shared/holder/shard-run.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { grpcProber } from '../../shared/prober/grpc/grpc.ts';
import { httpProber } from '../../shared/prober/http/http.ts';
import { probe } from '../../shared/prober/probe.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { inLanes } from '../support/lanes.ts';
import { runConditions } from './conditions.ts';
import { runManager } from './manager.ts';
import { runPods } from './pods.ts';
import { runProber } from './prober.ts';
import { runResults } from './results.ts';
import { runRunloop } from './runloop.ts';
import type { Finding, Vector, VectorRunner } from './runner.ts';
import { runStatusManager } from './status-manager.ts';
import { runTermination } from './termination.ts';
import { wireConcurrency } from './time-critical.ts';
import { runUpdatePodStatus } from './update-pod-status.ts';
import { baseOf, readVectors, vectorFiles } from './vector-files.ts';
import { runWireGrpc } from './wire-grpc.ts';
import { runWireH2 } from './wire-h2.ts';
import { runWireHttp } from './wire-http.ts';
import { runWireRoom } from './wire-room.ts';
import { runWireTcp } from './wire-tcp.ts';
import { runWorker } from './worker.ts';

export type FileReport = {
  readonly file: string;
  /** Names of the product's functions that the vectors enter by. */
  readonly entries: readonly string[];
  /** Equal to what was recorded. */
  readonly passed: number;
  /** Vectors that differ on purpose, by the numbers of docs/semantics.md that say so. */
  readonly byRules: readonly (readonly number[])[];
  readonly failures: readonly { readonly vector: string; readonly difference: string }[];
  /** Vectors of a file that no family claims. They prove nothing, so they count neither as passed nor as failed. */
  readonly notRun: number;
};

export type Family = {
  readonly run: VectorRunner;
  /** What the vectors enter by: functions that the product runs too. */
  readonly entries: readonly { readonly name: string }[];
  /** How many vectors like this one run at once; the fewer, the later. */
  readonly concurrency: (vector: Vector) => number;
  /** The time-out of the probe passes while other processes keep the machine busy. */
  readonly isTimed?: true;
};

/** What a busy machine makes differ are a few. More are played once only. */
const playedAgainMax = 8;
const timesAgain = 2;

const pure = (run: VectorRunner, ...entries: Family['entries']): Family => ({ run, entries, concurrency: () => 1 });
const wire = (run: VectorRunner, ...entries: Family['entries']): Family => ({
  run,
  entries,
  concurrency: wireConcurrency,
  isTimed: true,
});

/** Each starts a process, which takes most of its time. */
const inRoom: Family = {
  run: runWireRoom,
  entries: [guardedDialer, httpProber, tcpProber, grpcProber],
  concurrency: () => 4,
};

/** By the file's base name; a suffix (`worker-random`) does not matter, the longest name wins. */
const families: Readonly<Record<string, Family>> = {
  worker: pure(runWorker, decideGate, reduce),
  results: pure(runResults, Worker),
  runloop: pure(runRunloop, newTargetTicker, passTime, takeWake),
  manager: pure(runManager, apiApp, ShardLoader, adoptTarget, Worker),
  pods: pure(runPods, decodeManifest, specView),
  prober: pure(runProber, probe),
  'update-pod-status': pure(runUpdatePodStatus, updatePodStatus),
  conditions: pure(runConditions, containersReadyCondition, podReadyCondition, podInitializedCondition),
  'status-manager': pure(runStatusManager, nextStatus, apiApp, Worker, syncTarget),
  termination: pure(runTermination, apiApp, runShard, syncTarget),
  'wire-http': wire(runWireHttp, httpProber),
  'wire-certificates': wire(runWireHttp, httpProber),
  'wire-tls': wire(runWireHttp, httpProber),
  'wire-tcp': wire(runWireTcp, tcpProber),
  'wire-grpc': wire(runWireGrpc, grpcProber),
  'wire-h2': wire(runWireH2, grpcProber, httpProber),
  'wire-addresses': inRoom,
  'wire-sni': inRoom,
  'wire-goaway': wire(runWireH2, grpcProber, httpProber),
};

/** Runs every file of the folder, and calls `onReport` as soon as one is done. */
export async function runFolder(
  folder: string,
  onReport: (report: FileReport) => void,
): Promise<readonly FileReport[]> {
  const reports: FileReport[] = [];
  for (const file of vectorFiles(folder)) {
    const report = await runFile(folder, file);
    onReport(report);
    reports.push(report);
  }
  return reports;
}

export async function runFile(folder: string, file: string): Promise<FileReport> {
  const vectors = readVectors(join(folder, file));
  const family = familyOf(baseOf(file));
  if (family === undefined) return { file, entries: [], passed: 0, byRules: [], failures: [], notRun: vectors.length };
  const findings = await runVectors(vectors, family);
  const failures = vectors.flatMap((vector) => {
    const found = findings.get(vector);
    return typeof found === 'string' ? [{ vector: vector.name, difference: found }] : [];
  });
  const byRules = [...findings.values()].flatMap((found) => (typeof found === 'object' ? [found.rules] : []));
  const entries = family.entries.map(({ name }) => name);
  return { file, entries, passed: vectors.length - findings.size, byRules, failures, notRun: 0 };
}

/** What differed, by vector; an equal one is absent. A timed one has differed each time, at last alone. */
export async function runVectors(
  vectors: readonly Vector[],
  { run, concurrency, isTimed }: Omit<Family, 'entries'>,
): Promise<ReadonlyMap<Vector, NonNullable<Finding>>> {
  const findings = new Map<Vector, NonNullable<Finding>>();
  const keep = async (vector: Vector) => {
    const found = await finding(run, vector);
    if (found !== undefined) findings.set(vector, found);
    else findings.delete(vector);
  };
  const groups = Map.groupBy(vectors, concurrency);
  for (const [atOnce, group] of [...groups].sort(([a], [b]) => b - a)) await inLanes(group, atOnce, keep);
  for (let time = 0; isTimed && time < timesAgain; time += 1) {
    const differing = [...findings].flatMap(([vector, found]) => (typeof found === 'string' ? [vector] : []));
    if (differing.length <= playedAgainMax) await inLanes(differing, 1, keep);
  }
  return findings;
}

/** `base`: a file's name without its suffix. */
export function familyOf(base: string): Family | undefined {
  const names = Object.keys(families).filter((name) => new RegExp(`^${name}($|[-_.0-9])`).test(base));
  const longest = names.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : families[longest];
}

async function finding(run: VectorRunner, vector: Vector): Promise<Finding> {
  try {
    return await run(vector);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}
