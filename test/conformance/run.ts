/** Reads a folder of vectors and gives each to the runner of its family. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runConditions } from './conditions.ts';
import { runManager } from './manager.ts';
import { runPods } from './pods.ts';
import { runProber } from './prober.ts';
import { runResults } from './results.ts';
import { runRunloop } from './runloop.ts';
import type { Finding, Vector, VectorRunner } from './runner.ts';
import { runStatusManager } from './status-manager.ts';
import { isTimeCritical } from './time-critical.ts';
import { runUpdatePodStatus } from './update-pod-status.ts';
import { runWireGrpc } from './wire-grpc.ts';
import { runWireH2 } from './wire-h2.ts';
import { runWireHttp } from './wire-http.ts';
import { runWireTcp } from './wire-tcp.ts';
import { runWorker } from './worker.ts';

export type FileReport = {
  readonly file: string;
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
  /** Vectors at once: those on sockets mostly wait. */
  readonly concurrency: number;
  /** Vectors that run after the others, one at a time, because a busy machine would decide them. */
  readonly runsAlone?: (vector: Vector) => boolean;
};

const pure = (run: VectorRunner): Family => ({ run, concurrency: 1 });
const wire = (run: VectorRunner): Family => ({ run, concurrency: 16, runsAlone: isTimeCritical });

/** By the file's base name; a suffix (`worker-random`) does not matter, the longest name wins. */
const families: Readonly<Record<string, Family>> = {
  worker: pure(runWorker),
  results: pure(runResults),
  runloop: pure(runRunloop),
  manager: pure(runManager),
  pods: pure(runPods),
  prober: pure(runProber),
  'update-pod-status': pure(runUpdatePodStatus),
  conditions: pure(runConditions),
  'status-manager': pure(runStatusManager),
  'wire-http': wire(runWireHttp),
  'wire-tcp': wire(runWireTcp),
  'wire-grpc': wire(runWireGrpc),
  'wire-h2': wire(runWireH2),
};

const suffix = /\.jsonl(\.gz)?$/;

/** The vector files of a folder, in name order. */
export function vectorFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => suffix.test(file))
    .sort();
}

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
  const family = familyOf(file.replace(suffix, ''));
  if (family === undefined) return { file, passed: 0, byRules: [], failures: [], notRun: vectors.length };
  const findings = await runVectors(vectors, family);
  const failures = vectors.flatMap((vector) => {
    const found = findings.get(vector);
    return typeof found === 'string' ? [{ vector: vector.name, difference: found }] : [];
  });
  const byRules = [...findings.values()].flatMap((found) => (typeof found === 'object' ? [found.rules] : []));
  return { file, passed: vectors.length - findings.size, byRules, failures, notRun: 0 };
}

/** What differed, by vector; an equal one is absent. */
export async function runVectors(
  vectors: readonly Vector[],
  { run, concurrency, runsAlone = () => false }: Family,
): Promise<ReadonlyMap<Vector, NonNullable<Finding>>> {
  const findings = new Map<Vector, NonNullable<Finding>>();
  const keep = async (vector: Vector) => {
    const found = await finding(run, vector);
    if (found !== undefined) findings.set(vector, found);
  };
  await forEachBounded(
    vectors.filter((vector) => !runsAlone(vector)),
    concurrency,
    keep,
  );
  await forEachBounded(vectors.filter(runsAlone), 1, keep);
  return findings;
}

/** `base`: a file's name without its suffix. */
export function familyOf(base: string): Family | undefined {
  const names = Object.keys(families).filter((name) => new RegExp(`^${name}($|[-_.0-9])`).test(base));
  const longest = names.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : families[longest];
}

function readVectors(path: string): readonly Vector[] {
  const bytes = readFileSync(path);
  const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Vector);
}

async function finding(run: VectorRunner, vector: Vector): Promise<Finding> {
  try {
    return await run(vector);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function forEachBounded<Item>(
  items: readonly Item[],
  concurrency: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await act(item);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
}
