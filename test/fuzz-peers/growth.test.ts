import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bench } from './bench.ts';
import { measureGrowth } from './growth.ts';
import type { Kind } from './kind.ts';
import type { Probed } from './prober.ts';

const kind: Kind = { name: 'any', transport: 'http', reply: () => ({ pieces: [] }) };
const mib = 1024 * 1024;

/** A bench whose probe costs `costMs` of what it received, times `slowness` of how many probes there were before. */
function benchOf(costMs: (mibs: number) => number, slowness: (probes: number) => number): Bench {
  let [bytes, probes] = [0, 0];
  const answer = (): Probed => {
    const cpuMs = (1 + costMs(bytes / mib)) * slowness(probes);
    probes += 1;
    return { probes: 1, outcomes: { success: 1 }, wallMs: cpuMs, cpuMs, rssMib: 0, heapMib: 0, latenesses: [] };
  };
  return {
    open: async ([exchange]) => {
      bytes = exchange?.[1].bytes ?? 0;
      return [{ kind: 'tcp', host: '127.0.0.1', port: 1, timeoutMs: 1 }];
    },
    close: async () => undefined,
    probe: async () => answer(),
    end: () => undefined,
  };
}

const faultOf = async (bench: Bench) =>
  (await measureGrowth(bench, kind, { seed: 1, cut: 'whole', runs: 2 })).fault !== undefined;

const quiet = () => 1;
const linear = (mibs: number) => mibs * 40;
const quadratic = (mibs: number) => mibs * mibs * 40;
/** Every size, with its warm-up and two runs. */
const probesInAll = 7 * 3;

test('a linear cost passes and a quadratic one fails', async () => {
  assert.equal(await faultOf(benchOf(linear, quiet)), false);
  assert.equal(await faultOf(benchOf(quadratic, quiet)), true);
});

test('a machine that becomes three times as slow makes no linear cost fail, and no quadratic one pass', async () => {
  for (let from = 0; from < probesInAll; from += 1)
    for (const [before, after] of [
      [1, 3],
      [3, 1],
    ] as const) {
      const slowness = (probes: number) => (probes < from ? before : after);
      const when = `from probe ${from} on ${after}, before ${before}`;
      assert.equal(await faultOf(benchOf(linear, slowness)), false, `linear, ${when}`);
      assert.equal(await faultOf(benchOf(quadratic, slowness)), true, `quadratic, ${when}`);
    }
});
