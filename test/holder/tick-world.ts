/** Runs of one shard in tick mode, each begun by the test in the minute it chooses. */

import { functionCapacity } from '../../shared/core/shards/layout.ts';
import { slotAt } from '../../shared/core/shards/slots.ts';
import type { ProbeInput } from '../../shared/core/spec/spec-input.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { runReceived } from '../../shared/holder/receipt.ts';
import type { RunEnd } from '../../shared/holder/run.ts';
import type { ShardMemory } from '../../shared/holder/shard-run.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import { layoutKey } from '../../shared/store/records/keys.ts';
import { currentLayout } from '../support/current-layout.ts';
import { shardMessage } from '../support/shard-messages.ts';
import { shardWorld, type WorldOptions } from '../support/shard-world.ts';

export const minuteMs = 60_000;
export const tcp = (periodSeconds: number, more: Partial<ProbeInput> = {}): ProbeInput => ({
  tcpSocket: { port: 1 },
  periodSeconds,
  ...more,
});

const shard = { shard: '00', from: 0, to: 256, mode: 'tick' } as const;

export type TickOptions = {
  /** Of the process that runs it; default: one that always lives. */
  readonly memory?: ShardMemory;
  readonly stop?: AbortSignal;
  readonly more?: Partial<ShardMessage>;
  /** How far the wall clock of the process is ahead of the schedule's. */
  readonly aheadMs?: number;
};

export type Ticked = { readonly end: RunEnd; readonly tookMs: number; readonly probes: number };

export type ProbeAt = { readonly port: number; readonly atMs: number };

type Answers = (port: number) => 'success' | 'failure' | Attempt | Promise<'success' | 'failure' | Attempt>;

export function tickWorld(options: WorldOptions = {}) {
  const world = shardWorld(options);
  const { clock, store, random, log } = world;
  const ownMemory: ShardMemory = new Map();
  const probed: ProbeAt[] = [];
  let answers: Answers = () => 'success';
  world.answer((_, port) => {
    probed.push({ port, atMs: clock.nowMs() });
    return answers(port);
  });
  const lay = () =>
    currentLayout(
      { store, clock, random, log },
      { capacity: functionCapacity, mode: 'auto', desiredRelease: '', runOf: () => undefined },
    );

  const message = async (): Promise<ShardMessage> => {
    const nowMs = clock.nowMs();
    const { slot, endMs } = slotAt(shard, nowMs);
    const layout = await store.get(layoutKey);
    const generation = Number(layout?.['generation:00']);
    return shardMessage({ generation, slot, slotEndMs: endMs, sentAtMs: nowMs, mode: 'tick' });
  };
  const begin = async ({ memory = ownMemory, stop, more, aheadMs = 0 }: TickOptions = {}) => {
    await lay();
    const given = { ...(await message()), ...more };
    const ports = { ...world.ports(), clock: { ...clock, nowMs: () => clock.nowMs() + aheadMs } };
    return runReceived(ports, given, given.slotEndMs + aheadMs, { memory, aheadMs, ...(stop && { stop }) });
  };

  return {
    ...world,
    /** What was probed since the last look, and when. */
    takeProbed: () => probed.splice(0),
    answers: (next: Answers) => {
      answers = next;
    },
    lay,
    message,
    begin,
    /** A run from its beginning to its end. */
    async tick(options: TickOptions = {}): Promise<Ticked> {
      const [beganAtMs, before] = [clock.nowMs(), probed.length];
      const end = await clock.runUntil(begin(options));
      return { end, tookMs: clock.nowMs() - beganAtMs, probes: probed.length - before };
    },
    /** To this far into the next minute (of the epoch, as of the slots of a shard that begins with bucket 0). */
    async toMinute(offsetMs = 0, minutes = 1): Promise<void> {
      const nextMs = (Math.floor(clock.nowMs() / minuteMs) + minutes) * minuteMs + offsetMs;
      await clock.advance(nextMs - clock.nowMs());
    },
  };
}

export type TickWorld = ReturnType<typeof tickWorld>;
