/** Reads a folder of vectors and gives each to the runner of its family. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runConditions } from './conditions.ts';
import { runManager } from './manager.ts';
import { runProber } from './prober.ts';
import { runResults } from './results.ts';
import { runRunloop } from './runloop.ts';
import type { Vector, VectorRunner } from './runner.ts';
import { runStatusManager } from './status-manager.ts';
import { runUpdatePodStatus } from './update-pod-status.ts';
import { runWireGrpc } from './wire-grpc.ts';
import { runWireHttp } from './wire-http.ts';
import { runWireTcp } from './wire-tcp.ts';
import { runWorker } from './worker.ts';

export type FileReport = {
  readonly file: string;
  readonly passed: number;
  readonly failures: readonly { readonly vector: string; readonly difference: string }[];
};

type Family = {
  readonly run: VectorRunner;
  /** Vectors at once: those on sockets mostly wait. */
  readonly concurrency: number;
};

const pure = (run: VectorRunner): Family => ({ run, concurrency: 1 });
const wire = (run: VectorRunner): Family => ({ run, concurrency: 16 });

/** By the file's base name; a suffix (`worker-random`) does not matter, the longest name wins. */
const families: Readonly<Record<string, Family>> = {
  worker: pure(runWorker),
  results: pure(runResults),
  runloop: pure(runRunloop),
  manager: pure(runManager),
  prober: pure(runProber),
  'update-pod-status': pure(runUpdatePodStatus),
  conditions: pure(runConditions),
  'status-manager': pure(runStatusManager),
  'wire-http': wire(runWireHttp),
  'wire-tcp': wire(runWireTcp),
  'wire-grpc': wire(runWireGrpc),
};

const suffix = /\.jsonl(\.gz)?$/;

/** The vector files of a folder, in name order. */
export function vectorFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((file) => suffix.test(file))
    .sort();
}

/** Runs every file of the folder; `told` hears of each as soon as it is done. */
export async function runFolder(folder: string, told: (report: FileReport) => void): Promise<readonly FileReport[]> {
  const reports: FileReport[] = [];
  for (const file of vectorFiles(folder)) {
    const report = await runFile(folder, file);
    told(report);
    reports.push(report);
  }
  return reports;
}

/** A file that no family claims fails with each of its vectors. */
export async function runFile(folder: string, file: string): Promise<FileReport> {
  const vectors = readVectors(join(folder, file));
  const family = familyOf(file.replace(suffix, '')) ?? pure(() => 'no runner for this file name');
  const differences = await mapBounded(vectors, family.concurrency, (vector) => difference(family.run, vector));
  const failures = vectors.flatMap((vector, index) => {
    const found = differences[index];
    return found === undefined ? [] : [{ vector: vector.name, difference: found }];
  });
  return { file, passed: vectors.length - failures.length, failures };
}

function familyOf(base: string): Family | undefined {
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

async function difference(run: VectorRunner, vector: Vector): Promise<string | undefined> {
  try {
    return await run(vector);
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

async function mapBounded<From, To>(
  items: readonly From[],
  concurrency: number,
  map: (item: From) => Promise<To>,
): Promise<readonly To[]> {
  const mapped: To[] = [];
  const waiting = items.entries();
  const lane = async () => {
    for (const [index, item] of waiting) mapped[index] = await map(item);
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  return mapped;
}
