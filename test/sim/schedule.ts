/** The schedule of a simulated world: woken each minute, as late, as often or as seldom as the faults have it. */
import { sleep } from '../../shared/lib/clock.ts';
import type { QueueSender } from '../../shared/queue/queue.ts';
import { repeatedRouting, slotAfter, slotAt, slotRouting, isOlder, rescueRouting } from '../../shared/core/slots.ts';
import { encodeLayout } from '../../shared/store/items.ts';
import { layoutKey, runKey } from '../../shared/store/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import type { Env } from './process.ts';

export type Ticked = {
  readonly env: Env;
  readonly store: Store;
  readonly queue: QueueSender;
  readonly ticks: () => readonly number[];
};

const tickMs = 60_000;

export async function tickSchedule(ticked: Ticked): Promise<void> {
  const { env, ticks } = ticked;
  for (;;) {
    const begunMs = env.clock.monotonicMs();
    for (const delayMs of ticks()) {
      await sleep(env.clock, delayMs);
      await tick(ticked).catch((cause: unknown) => env.log.warn('tick failed', { cause }));
    }
    await sleep(env.clock, Math.max(0, begunMs + tickMs - env.clock.monotonicMs()));
  }
}

const shards = [
  { shard: '00', from: 0, to: 90 },
  { shard: '5a', from: 90, to: 180 },
  { shard: 'b4', from: 180, to: 256 },
];

async function tick({ env, store, queue }: Ticked): Promise<void> {
  const { clock, random } = env;
  const layout = await store.get(layoutKey);
  if (!layout) {
    const rows = shards.map((shard) => ({ ...shard, generation: 1, mode: 'resident' as const, sinceMs: clock.nowMs() }));
    await store.write([{ kind: 'put', item: encodeLayout({ token: 0, version: 1, desiredRelease: '', shards: rows }), if: [{ kind: 'notExists' }] }], { token: random.uuid() });
  }
  for (const { shard, from, to } of shards) {
    const nowMs = clock.nowMs();
    const slotted = { shard, generation: 1, mode: 'resident' as const, from };
    const current = slotAt(slotted, nowMs);
    const next = slotAfter(slotted, current);
    const run = await store.get(runKey(shard));
    const shown = run && { generation: Number(run.generation), slot: Number(run.slot) };
    const messageOf = (kind: 'slot' | 'rescue', slot: typeof current) => ({ kind, shard, generation: 1, buckets: { from, to }, slot: slot.slot, slotEndMs: slot.endMs, sentAtMs: nowMs });
    if (isOlder(shown, { generation: 1, slot: current.slot })) await queue.send(messageOf('slot', current), repeatedRouting(slotted, current.slot, nowMs));
    if (nowMs >= next.sendFromMs) await queue.send(messageOf('slot', next), slotRouting(slotted, next.slot));
    if (run && nowMs - Number(run.beatAtMs) > 30_000) await queue.send(messageOf('rescue', current), rescueRouting(slotted, nowMs));
  }
}
