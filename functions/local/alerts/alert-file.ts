/**
 * Keeps the state of alerts in a file of the data folder. It is replaced as a whole, so a crash leaves the old one or
 * the new one; once it is saved, a power loss leaves the new one. While the disk is full it is kept in the reserve.
 */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { AlertLog } from '../../../shared/alerts/alerting.ts';
import { decodeKept, keptText } from '../../../shared/alerts/kept-alerts.ts';
import { absent } from '../../../shared/lib/error-code.ts';
import type { Log } from '../../../shared/lib/log.ts';
import { ownerOnly, syncFolder, writeSynced } from '../process/durable-file.ts';
import { alertReserve } from './alert-reserve.ts';

/** What the name of the file ends with while it is written. */
export const newFile = '.new';
/** What the name of its reserve ends with. */
export const reserveFile = '.reserve';
const unreadableFile = '.unreadable';
/** Characters that are made in one turn of the event loop, some milliseconds. Each is written before the next. */
export const sliceCharacters = 131_072;

export function alertFile(path: string, log: Log): AlertLog {
  const reserve = alertReserve(`${path}${reserveFile}`, path);
  let isReserveUsed = false;
  /** Alerts go on without the copy. */
  const setAside = (text: string) =>
    writeFile(`${path}${unreadableFile}`, text, { mode: ownerOnly }).catch((error: unknown) =>
      log.warn('damaged alerts cannot be set aside', { path: `${path}${unreadableFile}`, error }),
    );
  return {
    async load() {
      await reserve.prepare().catch((error: unknown) => {
        log.warn('no place on the disk is reserved for alerts: free some space and start again', { error });
      });
      const text = (await reserve.read()) ?? (await readFile(path, 'utf8').catch(absent));
      if (text === undefined) return undefined;
      const decoded = decodeKept(text);
      const [problem, ...more] = decoded ? decoded.problems : ['it is no file of alerts'];
      if (problem === undefined) return decoded?.kept;
      await setAside(text);
      log.error('kept alerts are damaged: set aside, and what is left out is reported again while it lasts', {
        path: `${path}${unreadableFile}`,
        problem,
        more: more.length,
      });
      return decoded?.kept;
    },
    setAside: (kept) => setAside(JSON.stringify(kept)),
    async save(kept) {
      try {
        await replace(path, slicesOf(keptText(kept)));
        isReserveUsed = false;
      } catch (error) {
        await reserve.write(keptText(kept)).catch(() => {
          throw error;
        });
        if (!isReserveUsed) log.warn('the disk takes no file of alerts: they are kept in its reserve', { error });
        isReserveUsed = true;
      }
    },
  };
}

async function replace(path: string, pieces: Iterable<string>): Promise<void> {
  await writeSynced(`${path}${newFile}`, 'w', (file) => file.writeFile(pieces));
  await rename(`${path}${newFile}`, path);
  await syncFolder(dirname(path));
}

/** Joins small pieces. */
function* slicesOf(pieces: Iterable<string>): Generator<string> {
  let slice = '';
  for (const piece of pieces) {
    slice += piece;
    if (slice.length < sliceCharacters) continue;
    yield slice;
    slice = '';
  }
  yield slice;
}

/** Keeps nothing, for a process whose store is in memory. */
export const noAlertFile: AlertLog = {
  load: async () => undefined,
  save: async () => undefined,
  setAside: async () => undefined,
};
