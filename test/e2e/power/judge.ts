/** Whether what outsiders know of a life is on the disk that a power loss leaves. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { decodeKept } from '../../../shared/alerts/kept-alerts.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { targetAddress, targetKey } from '../../../shared/store/records/keys.ts';
import { sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import { type Image, TracedDisk } from './disk-image.ts';
import type { Known, PastLife } from './life.ts';

export type Judged = {
  readonly losses: number;
  /** Different disks. */
  readonly disks: number;
  readonly wrong: readonly string[];
};

type JudgeOptions = {
  /** For the disks. */
  readonly folder: string;
  readonly random: Random;
  /** Ends at the first fault. */
  readonly isBrief?: boolean;
};

const wrongMax = 20;
const namespace = 'default';

/** A power loss after each call that changes the disk: with nothing, some or all of what was not synced. */
export async function judgeLosses({ calls, known, dataDir }: PastLife, options: JudgeOptions): Promise<Judged> {
  const { folder, random, isBrief = false } = options;
  const disk = new TracedDisk(dirname(dataDir));
  const read = diskReader(folder, [...new Set(known.flatMap((each) => ('name' in each ? each.name : [])))]);
  const owed = new Owed(known);
  const wrong: string[] = [];
  let losses = 0;
  for (const [index, call] of calls.entries()) {
    if (!disk.take(call)) continue;
    losses += 1;
    owed.until(calls[index + 1]?.atMs ?? Number.POSITIVE_INFINITY);
    const images = { nothing: disk.least(), some: disk.some(random), all: disk.most() };
    for (const [which, image] of Object.entries(images)) {
      const faults = owed.missingIn(await read(image));
      wrong.push(...faults.map((fault) => `call ${index} (${call.kind}), ${which} of what is not synced: ${fault}`));
    }
    if (wrong.length >= (isBrief ? 1 : wrongMax)) break;
  }
  return { losses, disks: read.disks(), wrong };
}

/** What has to be there. */
class Owed {
  readonly #known: readonly Known[];
  #next = 0;
  readonly #versions = new Map<string, number>();
  readonly #batches = new Set<string>();

  constructor(known: readonly Known[]) {
    this.#known = known.toSorted((one, other) => one.atMs - other.atMs);
  }

  /** Adds what was known before. */
  until(ms: number): void {
    for (let each = this.#known[this.#next]; each && each.atMs < ms; each = this.#known[this.#next]) {
      this.#next += 1;
      if (each.kind === 'registered') this.#versions.set(each.name, each.version);
      else if (each.kind === 'notified') this.#batches.add(each.batch);
      else this.#batches.delete(each.batch);
    }
  }

  missingIn({ versions, alerts, problems }: Found): readonly string[] {
    const older = [...this.#versions].flatMap(([name, version]) => {
      const found = versions.get(name) ?? 0;
      return found < version ? [`${name} was acknowledged with version ${version} and has ${found}`] : [];
    });
    const lost = [...this.#batches].filter((batch) => !alerts.includes(JSON.stringify(batch)));
    return [...problems, ...older, ...lost.map((batch) => `nothing will end what was notified as ${batch}`)];
  }
}

type Found = {
  /** Of each target. */
  readonly versions: ReadonlyMap<string, number>;
  /** The kept alerts as JSON. */
  readonly alerts: string;
  readonly problems: readonly string[];
};

/** Reads a disk as the next process does. */
function diskReader(folder: string, targets: readonly string[]) {
  const known = new Map<string, Found>();
  const read = async (image: Image): Promise<Found> => {
    const hash = hashOf(image);
    const found = known.get(hash) ?? (await readDisk(image, folder, targets));
    known.set(hash, found);
    return found;
  };
  return Object.assign(read, { disks: () => known.size });
}

function hashOf(image: Image): string {
  const hash = createHash('sha256');
  for (const [path, bytes] of image) hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  return hash.digest('hex');
}

async function readDisk(image: Image, folder: string, targets: readonly string[]): Promise<Found> {
  const place = mkdtempSync(join(folder, 'disk-'));
  const problems: string[] = [];
  const versions = new Map<string, number>();
  try {
    // SQLite makes what processes share in memory again.
    for (const [path, bytes] of image) if (!path.endsWith('-shm')) writeFileSync(join(place, basename(path)), bytes);
    const store = sqliteStore({ path: join(place, 'probelet.sqlite') });
    for (const name of targets) {
      const item = await store.get(targetKey(targetAddress(namespace, name)));
      if (item) versions.set(name, Number((item.labels as { readonly version?: string }).version));
    }
    store.close();
  } catch (error) {
    problems.push(`the store cannot be used: ${error}`);
  } finally {
    rmSync(place, { recursive: true });
  }
  const text = [...image].find(([path]) => basename(path) === 'alerts.json')?.[1].toString();
  const decoded = text === undefined ? undefined : decodeKept(text);
  if (text !== undefined && !decoded) problems.push('alerts.json is no file of alerts');
  problems.push(...(decoded?.problems.map((problem) => `alerts.json: ${problem}`) ?? []));
  return { versions, alerts: JSON.stringify(decoded?.kept ?? {}), problems };
}
