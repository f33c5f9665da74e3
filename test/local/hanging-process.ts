/**
 * One machine's runtime whose event loop a probe of 127.0.0.66 hangs for good, once it is connected: `node
 * hanging-process.ts FOLDER HANG_MS`. When asked so, it does many short pieces of work in one turn instead. Answers the
 * requests that its parent sends, and sends them once it listens.
 */
import { join } from 'node:path';
import { pino } from 'pino';
import { hangFile } from '../../functions/local/process/hang-file.ts';
import { jsonLog } from '../../functions/local/process/json-log.ts';
import { startRuntime } from '../../functions/local/process/runtime.ts';
import { localWatchdog } from '../../functions/local/process/watched.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { askApi } from '../support/api-client.ts';

const [folder = '', hangMs = ''] = process.argv.slice(2);
const log = jsonLog(pino.destination({ sync: true }));

const allows = dialPolicy({ mode: 'local' });
let looks = 0;
/** Asked before the dial, and about the peer that it has led to. */
const policy = (address: string): boolean => {
  if (address === '127.0.0.66') looks += 1;
  while (looks > 1);
  return allows(address);
};

const dataDir = join(folder, 'data');
const { attribution } = localWatchdog(log, { remember: { file: hangFile(dataDir) }, hangMs: Number(hangMs) });
const runtime = startRuntime(
  { dataDir },
  { clock: systemClock, random: systemRandom, log, attribution, network: { policy, dnsServers: [] } },
);
/** One turn of the event loop, of many short pieces of work. */
function workInOneTurn(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs) {
    const work = attribution.start('default\nbusy\nmain\nreadiness');
    const pieceEndMs = performance.now() + Number(hangMs) / piecesPerHang;
    while (performance.now() < pieceEndMs);
    work.end();
  }
}

const piecesPerHang = 100;
process.on('message', async (order: { path: string; method: string; body?: object; busyMs?: number }) => {
  if (order.busyMs !== undefined) {
    workInOneTurn(order.busyMs);
    process.send?.('done');
    return;
  }
  const { path, method, body } = order;
  const answer = await askApi<object>(runtime, method, path, body);
  process.send?.({ status: answer.status, body: answer.body });
});
await runtime.shard.loaded;
process.send?.('loaded');
