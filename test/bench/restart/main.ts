/**
 * `npm run bench:restart`: how soon a process that is started on many settled targets holds them and has probed each of
 * them, and how many prober errors that makes. `-- --targets 1000,10000 --periods 1,10 --restarts 8 --down 0`;
 * `--down`: seconds between the end of one process and the start of the next. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { scoreLine } from '../../support/figures.ts';
import { type Restart, restart } from './measure.ts';
import { startRestartWorld } from './world.ts';

const probedMsMax = 8_000;

const { values } = parseArgs({
  options: {
    targets: { type: 'string', default: '1000,10000' },
    periods: { type: 'string', default: '1,10' },
    restarts: { type: 'string', default: '8' },
    down: { type: 'string', default: '0' },
  },
});
const numbers = (list: string): readonly number[] => list.split(',').map(Number);
const say = (cells: readonly (string | number)[]) =>
  process.stdout.write(`${cells.map((cell) => String(cell).padStart(12)).join('')}\n`);

const judge = ({ probedMs, errors }: Restart): boolean => errors === 0 && probedMs <= probedMsMax;

async function measure(targets: number, periodSeconds: number): Promise<readonly Restart[]> {
  const world = await startRestartWorld(targets, periodSeconds);
  try {
    const measured: Restart[] = [];
    for (let count = 0; count < Number(values.restarts); count += 1) {
      await sleep(systemClock, Number(values.down) * 1_000);
      const one = await restart(world);
      measured.push(one);
      const { healthyMs, probedMs, errors } = one;
      say([targets, periodSeconds, Math.round(healthyMs), Math.round(probedMs), errors, judge(one) ? 'yes' : 'NO']);
    }
    return measured;
  } finally {
    world.close();
  }
}

say(['targets', 'period s', 'healthy ms', 'probed ms', 'errors', 'holds']);
const all: Restart[] = [];
for (const targets of numbers(values.targets))
  for (const periodSeconds of numbers(values.periods)) all.push(...(await measure(targets, periodSeconds)));
const failed = all.filter((one) => !judge(one)).length;
process.stdout.write(`${scoreLine({ passed: all.length - failed, failed })}\n`);
process.exitCode = failed === 0 ? 0 : 1;
