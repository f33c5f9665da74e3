/** The watchdog of `npm start`, with log lines in pino's format. */
import { extname } from 'node:path';
import type { Log } from '../../../shared/lib/log.ts';
import { startWatchdog, type Watchdog, type WatchdogOptions } from '../../watchdog/watchdog.ts';
import type { AwsOptions } from '../options/options.ts';

const line = { fields: { level: 'fatal' }, message: 'msg', time: 'time' };

export const localWatchdog = (log: Log, options: Pick<WatchdogOptions, 'remember' | 'hangMs'> = {}): Watchdog =>
  startWatchdog({ log, line, ...options });

/** The other modules end as this one does: in `.ts` in a clone, in `.js` in the npm package. */
const extension = extname(import.meta.filename);

/** Records hangs in the table that workers share. */
export const rememberedInTable = ({ table, region, endpoints }: AwsOptions) => ({
  module: new URL(`../../watchdog/remember${extension}`, import.meta.url).href,
  config: { table, region, endpoint: endpoints.dynamodb },
});
