/** What a simulated process waits for outside of its world: calls of the file system, and the thread for its files. */
import { setTimeout as pause } from 'node:timers/promises';
import { targetConverter } from '../../../functions/local/converter.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { turnOfTheLoop, turns } from '../../support/virtual-clock.ts';

export type FileWaits = {
  /** Resolves when there is none. */
  over(): Promise<void>;
  /** Converts by the machine's clock, while the world's stands still. */
  readonly openConverter: typeof targetConverter;
};

const calls: ReadonlySet<string> = new Set(['FSReqPromise', 'FSReqCallback']);
/** Then the wait is for another thread, which needs the CPU. */
const busyWaits = 100;
const waitsMax = 60_000;

export function fileWaits(): FileWaits {
  let asked = 0;
  const isWaiting = () => asked > 0 || process.getActiveResourcesInfo().some((each) => calls.has(each));
  return {
    async over() {
      await turns();
      for (let waited = 0; isWaiting(); waited += 1) {
        if (waited >= waitsMax) throw new Error(`never quiet: ${asked} files, ${process.getActiveResourcesInfo()}`);
        await (waited < busyWaits ? turnOfTheLoop() : pause(1));
        await turns();
      }
    },
    openConverter() {
      const converter = targetConverter(systemClock);
      return {
        async convert(file, signal) {
          asked += 1;
          const read = await converter.convert(file, signal);
          asked -= 1;
          return read;
        },
        close: converter.close,
      };
    },
  };
}
