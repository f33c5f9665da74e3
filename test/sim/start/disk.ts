/**
 * The disk of a simulated machine: full, with I/O errors, with slow syncs, or without power. It acts at the calls of
 * the real SQLite store, and in place of the file of alerts.
 *
 * `node:sqlite` has no interface for a file layer below it, so each write is one transaction, which is wholly on the
 * disk, not at all, or in doubt. A power loss copies the database with its log as they are, before or after the write
 * that it hits, with a torn frame behind it.
 */
import { appendFileSync, copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AlertLog } from '../../../shared/alerts/alerting.ts';
import { decodeKept, keptText } from '../../../shared/alerts/kept-alerts.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { type SqliteStore, sqliteStore } from '../../../shared/store/sqlite/sqlite.ts';
import { StoreUnavailable } from '../../../shared/store/store.ts';
import { forever, type Life, loadMs } from './life.ts';

export type DiskFault = 'full' | 'doubt' | 'slow' | 'well';

export type Disk = {
  /** What the store and the file of alerts meet from now on. */
  store: DiskFault;
  alerts: DiskFault;
  /** What a life could not use of the alerts that an earlier one has kept. */
  readonly damage: readonly string[];
  /** Whether what receivers have been sent may not be on the disk: the next life does not know of it to end it. */
  mayLackAlerts(): boolean;
  /** Where the next life finds its files. */
  folder(): string;
  openStore(life: Life): typeof sqliteStore;
  /** `onGivenUp`: the life has begun without the alerts that were kept, which it could not read for too long. */
  openAlertLog(life: Life, onGivenUp: () => void): () => AlertLog;
  /** The power goes at the next write, or at once if none comes before `settle`. */
  cutAtWrite(life: Life): void;
  /** The power is gone: closes the files of the life and copies what was written for the next one. */
  cut(life: Life): void;
};

/** After a power loss the alerts may be unreadable at first, or have an entry that is none. */
const unreadableChance = 0.3;
const damagedChance = 0.3;
/** Less than that, and more. */
const unreadableMs = { short: 25_000, long: 60_000 } as const;
const longChance = 0.3;
/** How the entry that is none is called. */
const foreign = 'foreign';
/** Within which a process tries again to keep what it could not. */
const savedWithinMs = 10_000;
const slowMsMax = 4_000;
const tornBytes = 2_000;
const isFailing = (fault: DiskFault): boolean => fault === 'full' || fault === 'doubt';
const storeFiles = ['probelet.sqlite', 'probelet.sqlite-wal'];

export function simulatedDisk(
  root: string,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Disk {
  const damage: string[] = [];
  /** Of the next life. */
  let unreadable: keyof typeof unreadableMs | undefined;
  let failedMs = Number.NEGATIVE_INFINITY;
  let number = 0;
  let kept: string | undefined;
  let database: SqliteStore | undefined;
  let cutting: Life | undefined;
  const folder = () => join(root, `life-${number}`);

  const lose = (life: Life) => {
    cutting = undefined;
    if (!life.alive) return;
    const old = folder();
    number += 1;
    mkdirSync(folder(), { mode: 0o700 });
    for (const name of storeFiles) if (existsSync(join(old, name))) copyFileSync(join(old, name), join(folder(), name));
    const log = join(folder(), 'probelet.sqlite-wal');
    if (existsSync(log)) appendFileSync(log, Buffer.alloc(Math.floor(random.next() * tornBytes), 0x5a));
    life.end();
    const ended = database;
    database = undefined;
    const chance = random.next();
    if (chance < unreadableChance) unreadable = random.next() < longChance ? 'long' : 'short';
    else if (chance < unreadableChance + damagedChance) kept = kept && damaged(kept);
    // Not within one of its own calls.
    setImmediate(() => ended?.close());
  };

  const written = async (life: Life, call: () => ReturnType<SqliteStore['write']>) => {
    if (!life.alive) return forever<never>();
    const { store: fault } = disk;
    if (fault === 'full') throw new StoreUnavailable('the disk is full');
    const isCut = cutting === life;
    if (isCut && random.next() < 0.5) {
      lose(life);
      return forever<never>();
    }
    const outcome = await call();
    if (isCut && life.alive) lose(life);
    if (fault === 'slow') await sleep(clock, random.next() * slowMsMax);
    if (!life.alive) return forever<never>();
    return fault === 'doubt' && random.next() < 0.5 ? ({ kind: 'inDoubt' } as const) : outcome;
  };

  const saved = async (life: Life, text: string) => {
    const { alerts: fault } = disk;
    if (fault === 'slow') await sleep(clock, random.next() * slowMsMax);
    if (!life.alive) return forever<void>();
    if (isFailing(fault)) failedMs = clock.monotonicMs();
    if (fault === 'full') throw new Error('ENOSPC');
    // What fails with an I/O error may have been renamed all the same.
    if (fault !== 'doubt' || random.next() < 0.5) kept = text;
    if (fault === 'doubt') throw new Error('EIO');
  };

  const alertLogOf = (life: Life, onGivenUp: () => void): AlertLog => {
    const openedMs = clock.monotonicMs();
    const readableMs = openedMs + (unreadable ? unreadableMs[unreadable] : 0);
    unreadable = undefined;
    let isBegun = false;
    return {
      async load() {
        if (clock.monotonicMs() < readableMs) throw new Error('EIO');
        isBegun = true;
        if (kept === undefined) return undefined;
        const decoded = decodeKept(kept);
        const problems = decoded?.problems ?? ['it is no file of alerts'];
        damage.push(...problems.filter((problem) => !problem.includes(foreign)));
        return decoded?.kept;
      },
      save(value) {
        // The first that a process keeps, before it sends anything.
        if (!isBegun && life.alive) {
          const waitedMs = clock.monotonicMs() - openedMs;
          if (waitedMs < loadMs) damage.push(`given up after ${Math.round(waitedMs / 1_000)} s`);
          onGivenUp();
        }
        isBegun = true;
        return saved(life, [...keptText(value)].join(''));
      },
      setAside: async () => undefined,
    };
  };

  const disk: Disk = {
    store: 'well',
    alerts: 'well',
    damage,
    mayLackAlerts: () => isFailing(disk.alerts) || clock.monotonicMs() - failedMs < savedWithinMs,
    folder,
    openStore: (life) => (options) => {
      const store = sqliteStore(options);
      database = store;
      return {
        ...store,
        get: (...asked) => (life.alive ? store.get(...asked) : forever()),
        query: (...asked) => (life.alive ? store.query(...asked) : forever()),
        write: (...asked) => written(life, () => store.write(...asked)),
        sweep: (...asked) => (life.alive ? store.sweep(...asked) : 0),
      };
    },
    openAlertLog: (life, onGivenUp) => () => alertLogOf(life, onGivenUp),
    cutAtWrite: (life) => {
      cutting = life;
    },
    cut: lose,
  };
  return disk;
}

/** The same with entries that are none, in each part. */
function damaged(text: string): string {
  const kept = JSON.parse(text);
  kept.state.incidents[foreign] = { id: 1 };
  kept.state.batches[foreign] = null;
  kept.outbox[foreign] = [{}];
  return JSON.stringify(kept);
}
