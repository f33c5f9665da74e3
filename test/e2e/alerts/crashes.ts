/**
 * Simulated kills of alerts on a virtual clock, with the file that keeps them in production. A kill comes before or
 * after a save, or leaves a part of the new file behind.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alertFile, newFile } from '../../../functions/local/alerts/alert-file.ts';
import type { Notification } from '../../../shared/alerts/alert-state.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import { type KeptLog, killedLife, type Life } from '../../alerts/killed-life.ts';
import { recordingLog } from '../../support/recording-log.ts';
import type { Tally } from '../../support/tally.ts';
import { turnOfTheLoop } from '../../support/virtual-clock.ts';

const killsPerLife = 4;
const quietTurns = 2;

export async function judgeCrashes(crashes: number, verdict: Tally['verdict']): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-crashes-'));
  const faults: string[] = [];
  const lives = Math.ceil(crashes / killsPerLife);
  let deliveries = 0;
  try {
    for (let seed = 1; seed <= lives; seed += 1) {
      const arrived = await killedLife({ ...onDisk(join(folder, `${seed}.json`)), seed, kills: killsPerLife });
      deliveries += arrived.length;
      faults.push(...faultsOf(arrived).map((fault) => `seed ${seed}: ${fault}`));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const name = `${lives * killsPerLife} simulated kills, ${lives} incidents, ${deliveries} deliveries`;
  verdict(`${name}: each beginning and each end is reported at least once, with one id`, faults);
}

function faultsOf(arrived: readonly Notification[]): readonly string[] {
  return ['firing', 'resolved'].flatMap((kind) => {
    const ids = arrived.filter((each) => each.kind === kind).map(({ id }) => id);
    const isRight = ids.length >= 1 && ids.length <= 1 + killsPerLife && new Set(ids).size === 1;
    return isRight ? [] : [`${kind}: ${ids.join(', ') || 'nothing'}`];
  });
}

function onDisk(path: string): Pick<Life, 'kept' | 'quiet'> {
  const underWay = new Set<Promise<unknown>>();
  const tracked = <Value>(work: Promise<Value>): Promise<Value> => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };
  const settled = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };
  return {
    async quiet() {
      for (let turn = 0; turn < quietTurns; turn += 1) {
        await settled();
        await turnOfTheLoop();
      }
    },
    kept: ({ clock, random }): KeptLog => ({
      openedBy(isKilled) {
        const file = alertFile(path, recordingLog());
        return {
          load: () => tracked(file.load()),
          async save(kept) {
            await sleep(clock, random.next() * 50);
            if (isKilled()) return new Promise<never>(() => undefined);
            await tracked(file.save(kept));
            await sleep(clock, random.next() * 50);
          },
          setAside: (kept) => tracked(file.setAside(kept)),
        };
      },
      async killed() {
        await settled();
        if (random.next() < 1 / 3) writeFileSync(`${path}${newFile}`, '{"version":1,"state":{"inc');
      },
    }),
  };
}
