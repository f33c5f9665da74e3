/** Runs of one shard in tick mode, each begun by the test in the minute it chooses. */
import { functionCapacity } from '../../shared/core/layout.ts';
import { slotAt } from '../../shared/core/slots.ts';
import type { ProbeInput } from '../../shared/core/spec-input.ts';
import type { Attempt } from '../../shared/core/types.ts';
import type { ShardMessage } from '../../shared/queue/queue.ts';
import type { ShardMemory } from '../../shared/run/memory.ts';
import type { Ports } from '../../shared/run/ports.ts';
import { runReceived } from '../../shared/run/receipt.ts';
import type { RunEnd } from '../../shared/run/run.ts';
import { decodeRun, type RunRecord } from '../../shared/store/items.ts';
import { layoutKey, runKey } from '../../shared/store/keys.ts';
import { currentLayout } from '../support/current-layout.ts';
import { shardWorld } from '../support/shard-world.ts';

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
  readonly wrap?: (ports: Ports) => Ports;
  /** How far the wall clock of the process is ahead of the schedule's. */
  readonly aheadMs?: number;
};

export type Ticked = { readonly end: RunEnd; readonly tookMs: number; readonly probes: number };

export type ProbeAt = { readonly port: number; readonly atMs: number };

type Answers = (port: number) => 'success' | 'failure' | Attempt | Promise<'success' | 'failure' | Attempt>;

export function tickWorld() {
  const world = shardWorld();
  const { clock, store, random, log } = world;
  const ownMemory: ShardMemory = new Map();
  const probed: ProbeAt[] = [];
  let answers: Answers = () => 'success';
  world.answer((request) => {
    const port = 'port' in request ? request.port : 0;
    probed.push({ port, atMs: clock.nowMs() });
    return answers(port);
  });
  const lay = () =>
    currentLayout({ store, clock, random, log }, { capacity: functionCapacity, mode: 'auto', desiredRelease: '' });

  const message = async (): Promise<ShardMessage> => {
    const nowMs = clock.nowMs();
    const { slot, endMs } = slotAt(shard, nowMs);
    const layout = await store.get(layoutKey);
    const generation = Number(layout?.['generation:00']);
    const buckets = { from: 0, to: 256 };
    return { kind: 'slot', shard: '00', generation, buckets, slot, slotEndMs: endMs, sentAtMs: nowMs, mode: 'tick' };
  };
  const begin = async ({ memory = ownMemory, stop, more, wrap = (ports) => ports, aheadMs = 0 }: TickOptions = {}) => {
    await lay();
    const given = { ...(await message()), ...more };
    const ports = { ...world.ports(), clock: { ...clock, nowMs: () => clock.nowMs() + aheadMs } };
    return runReceived(wrap(ports), given, given.slotEndMs + aheadMs, { memory, aheadMs, ...(stop && { stop }) });
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
    async runRecord(): Promise<RunRecord> {
      const item = await store.get(runKey('00'));
      const decoded = item && decodeRun(item);
      if (decoded?.kind !== 'ok') throw new Error('no RUN');
      return decoded.record;
    },
  };
}

export type TickWorld = ReturnType<typeof tickWorld>;
