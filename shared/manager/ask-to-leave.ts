/**
 * Who receives a slot's message for the first time while the run of an earlier slot beats asks that run to leave, in RUN. It holds the shard
 * by a rescue or by a copy of a message, so the queue has kept nobody waiting for it: claimed over, it could not write what its successor owes.
 */
import { sleep } from '../lib/clock.ts';
import type { ShardMessage } from '../queue/queue.ts';
import { runKey } from '../store/keys.ts';
import type { Item } from '../store/store.ts';
import { beatIntervalMs, lastBeat, visibilityMs } from './beat.ts';
import { beatConditions } from './fence.ts';
import { fencedPorts, type Ports } from './ports.ts';
import { writeSurely } from './write.ts';

/** The holder's next beat, its drain and its last writes; less than the lease of who waits. */
const leaveMaxMs = 10_000;
const lookMs = 1_000;

/** Resolves when the holder has left, is dead or takes too long. @throws StoreUnavailable, QueueUnavailable */
export async function askToLeave(
  ports: Ports,
  message: ShardMessage,
  { aheadMs, stop }: { readonly aheadMs: number; readonly stop: AbortSignal | undefined },
): Promise<void> {
  const { clock, lease } = ports;
  const fenced = fencedPorts(ports);
  const read = () => fenced.store.get(runKey(message.shard));
  const holder = await read();
  if (!holder || !beatsNow(holder, message, clock.nowMs() - aheadMs)) return;
  const { token } = holder;
  if (typeof token !== 'number' || !(await lease.extend(visibilityMs))) return;
  const untilMs = clock.monotonicMs() + leaveMaxMs;
  const key = runKey(message.shard);
  const asked = await writeSurely(fenced, [
    { kind: 'update', key, set: { leave: token }, if: beatConditions({ token }) },
  ]);
  if (asked.kind !== 'written') return;
  ports.log.info('holder asked to leave', { shard: message.shard, slot: message.slot });
  while (clock.monotonicMs() < untilMs && !stop?.aborted) {
    await sleep(clock, lookMs, stop);
    const now = await read();
    if (now?.token !== token || now.beat === lastBeat) return;
  }
}

/** As far as clocks can tell; where they cannot, its successor claims the shard at once. */
const beatsNow = ({ beat, beatAtMs, generation, slot }: Item, message: ShardMessage, nowMs: number): boolean =>
  beat !== lastBeat &&
  generation === message.generation &&
  typeof slot === 'number' &&
  slot < message.slot &&
  typeof beatAtMs === 'number' &&
  Math.abs(nowMs - beatAtMs) < 2 * beatIntervalMs;
