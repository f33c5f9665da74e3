/**
 * The stages with the whole of `npm start`: 700 peers of 10 MiB each, and a long run beside peers that once ended it.
 */
import type { Random } from '../../shared/lib/random.ts';
import { type Figure, judged } from '../support/figures.ts';
import { triggerKinds } from './http2-kinds.ts';
import { bytesMaxOf, bytesMin, type Exchange, type Kind, shuffled } from './kind.ts';
import type { StageOptions } from './stages.ts';
import { startWhole, type Whole, wholeFigures } from './whole.ts';

const crowd = { peers: 700, periodSeconds: 10, fullMs: 30_000, sliceMs: 20_000 };
/** Kinds with far smaller replies do not fill the memory. */
const crowdBytesMin = 4_000_000;
const terminations = { full: 3, slice: 1 };
const terminateMsMax = 5_000;
/** A restarted process gets its SIGTERM between these times. */
const againMs = { least: 300, most: 12_000 };

/** All kinds of large replies, in turn. Later the process gets a SIGTERM at random times, and is started again. */
export async function crowdStage({ kinds, isSlice, random, say }: StageOptions): Promise<readonly Figure[]> {
  const large = kinds.filter((kind) => bytesMaxOf(kind) >= crowdBytesMin);
  if (large.length === 0) return [];
  const exchanges = shuffled(
    Array.from({ length: crowd.peers }, (_, at) => large[at % large.length] as Kind),
    random,
  ).map((kind) => exchangeOf(kind, bytesMaxOf(kind), random));
  const whole = await startWhole();
  const figures: Figure[] = [];
  try {
    await whole.register(exchanges, crowd.periodSeconds);
    await whole.watch((isSlice ? crowd.sliceMs : crowd.fullMs) + random.next() * 1_000);
    figures.push(await terminationFigure(whole, 1));
    for (let at = 2; at <= (isSlice ? terminations.slice : terminations.full); at += 1) {
      await whole.restart();
      await whole.watch(againMs.least + random.next() * (againMs.most - againMs.least));
      figures.push(await terminationFigure(whole, at));
    }
    figures.unshift(...wholeFigures('crowd', whole.seen()));
  } finally {
    await whole.end();
  }
  for (const { name, measured, holds } of figures) if (holds === false) say(`FAIL ${name}: ${measured}`);
  return figures;
}

async function terminationFigure(whole: Whole, at: number): Promise<Figure> {
  const { tookMs, code } = await whole.terminate();
  return judged(`crowd: SIGTERM ${at} ends it`, `after ${(tookMs / 1000).toFixed(2)} s with ${code}`, {
    limit: `≤ ${terminateMsMax / 1000} s, 0`,
    holds: tookMs <= terminateMsMax && code === '0',
  });
}

const long = { peers: 100, periodSeconds: 1, triggers: 60, bytesMax: 1024 * 1024 };
const lookMs = 60_000;

/** So many minutes of hostile HTTP/2 and gRPC. Six in ten peers send what once ended a process, and stay connected. */
export async function longStage({ kinds, random, say }: StageOptions, minutes: number): Promise<readonly Figure[]> {
  const others = kinds.filter(({ transport }) => transport === 'h2' || transport === 'grpc');
  const exchanges = Array.from({ length: long.peers }, (_, at) => {
    const from = at < long.triggers || others.length === 0 ? triggerKinds : others;
    const kind = from[at % from.length] as Kind;
    return exchangeOf(kind, bytesMin * (Math.min(long.bytesMax, bytesMaxOf(kind)) / bytesMin) ** random.next(), random);
  });
  const whole = await startWhole();
  try {
    await whole.register(exchanges, long.periodSeconds);
    for (let leftMs = minutes * 60_000; leftMs > 0; leftMs -= lookMs) {
      await whole.watch(Math.min(lookMs, leftMs));
      const { memory, faults } = whole.seen();
      say(`${(leftMs / 60_000).toFixed(0)} min left: RSS at most ${(memory.rss / 1_000_000).toFixed(0)} MB`);
      if (faults.length > 0) break;
    }
    await whole.terminate();
    return wholeFigures('long run', whole.seen());
  } finally {
    await whole.end();
  }
}

const exchangeOf = (kind: Kind, bytes: number, random: Random): readonly [Kind, Exchange] => [
  kind,
  { kind: kind.name, bytes: Math.round(bytes), cut: 'whole', seed: Math.floor(random.next() * 2 ** 31) },
];
