/** The watchdog of `npm start`: a hang is remembered in the data folder, where there is one. */
import { join } from 'node:path';
import type { Log } from '../../shared/lib/log.ts';
import { startWatchdog, type Watchdog } from '../watchdog/watchdog.ts';

type Options = {
  readonly log: Log;
  readonly dataDir?: string;
  readonly hangMs?: number;
};

/** As pino writes a line of its level `fatal`. */
const line = { fields: { level: 60 }, message: 'msg', time: 'time' };

export function localWatchdog({ log, dataDir, hangMs }: Options): Watchdog {
  const remember = dataDir !== undefined && { remember: { file: hangFile(dataDir) } };
  return startWatchdog({ log, line, ...remember, ...(hangMs !== undefined && { hangMs }) });
}

export const hangFile = (dataDir: string): string => join(dataDir, 'hang');
