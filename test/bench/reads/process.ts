/** `npm start` on a data folder, with a monitor of its event loop. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { isHealthy, startProduct } from '../../local/product.ts';
import { until } from '../../support/wait.ts';
import { productOptions } from '../world.ts';
import type { LoopDelay } from './loop-delay.ts';

export type Watched = {
  readonly url: string;
  /** What its event loop did since the last call. */
  loopDelay(): Promise<LoopDelay>;
  stop(): Promise<void>;
};

const monitor = new URL('loop-delay.ts', import.meta.url).href;
const healthy = { withinMs: 60_000, pollMs: 25 };
const answered = { withinMs: 60_000, pollMs: 5 };
/** Of a process that has just started: everything is due at once. */
const settleMs = 12_000;

export async function startWatched(dataDir: string, args: readonly string[] = []): Promise<Watched> {
  const path = join(dataDir, 'loop-delay');
  const { child, url, stop } = await startProduct(
    ['--data-dir', dataDir, '--port', '0', ...args],
    productOptions(['--import', monitor], { PROBELET_BENCH_LOOP_DELAY: path }),
  );
  await until('the process is healthy', healthy, () => isHealthy(url));
  await sleep(systemClock, settleMs);
  let asked = 0;
  return {
    url,
    loopDelay() {
      asked += 1;
      child.kill('SIGUSR2');
      return until('the monitor answers', answered, () => delayOf(path, asked));
    },
    stop,
  };
}

/** Undefined until the file has what was asked for. */
function delayOf(path: string, asked: number): LoopDelay | undefined {
  if (!existsSync(path)) return undefined;
  const delay = JSON.parse(readFileSync(path, 'utf8')) as LoopDelay;
  return delay.count === asked ? delay : undefined;
}
