/**
 * Keeps the state of alerts in a file of the data folder. It is replaced as a whole, so a crash leaves the old one or
 * the new one.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { type AlertLog, alertLogVersion, type KeptAlerts } from '../../shared/alerts/alerting.ts';
import type { Log } from '../../shared/lib/log.ts';

/** What the name of the file ends with while it is written. */
export const newFile = '.new';
const unreadableFile = '.unreadable';
const ownerOnly = 0o600;

export function alertFile(path: string, log: Log): AlertLog {
  return {
    async load() {
      const text = await readFile(path, 'utf8').catch(missing);
      if (text === undefined) return undefined;
      const kept = keptIn(text);
      if (kept) return kept;
      await rename(path, `${path}${unreadableFile}`);
      log.error('kept alerts cannot be read: set aside, and open incidents are reported again', { path });
      return undefined;
    },
    async save(kept) {
      const file = await open(`${path}${newFile}`, 'w', ownerOnly);
      try {
        await file.writeFile(JSON.stringify(kept));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${path}${newFile}`, path);
    },
  };
}

/** Keeps nothing, for a process whose store is in memory. */
export const noAlertFile: AlertLog = { load: async () => undefined, save: async () => undefined };

function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}

function keptIn(text: string): KeptAlerts | undefined {
  try {
    const kept: Partial<KeptAlerts> = JSON.parse(text);
    const { version, state, outbox } = kept;
    const isWhole = version === alertLogVersion && state?.incidents && state.batches && outbox;
    return isWhole ? { version, state, outbox } : undefined;
  } catch {
    return undefined;
  }
}
