/**
 * `npm run e2e [-- --steady] [-- --help]`: deploys the product with the CDK on an emulator of AWS, uses it as its users
 * do, and removes it. Prints each step with its time and ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { scoreLine } from '../../support/figures.ts';
import { pythonPrograms } from '../../support/python-programs.ts';
import { play } from './play.ts';
import { stepRunner } from './runner.ts';
import { fullMinutes } from './steps/steady.ts';

const help = `npm run e2e [-- --steady]

Deploys probelet on an emulator of AWS, uses it as its users do, and removes it.

  --steady  measures the steady state for 10 min instead of 2, and counts what a take-over costs as it comes
`;

const { values } = parseArgs({
  options: { steady: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
if (values.help) {
  say(help);
  process.exit(0);
}

try {
  pythonPrograms();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Minutes of steady targets: the whole run takes less than 10 min, also if a slot ends in between. */
const minutes = 2;

const stops: (() => Promise<void> | void)[] = [];
/** Ends what was started, the last one first. A failure to end is printed and does not keep the others. */
const stopAll = async () => {
  for (let stop = stops.pop(); stop; stop = stops.pop())
    await (async () => stop())().catch((error: unknown) => say(`not ended: ${String(error)}`));
};
let interruptedBy: NodeJS.Signals | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interruptedBy = signal;
    void stopAll().finally(() => process.exit(1));
  });

const runner = stepRunner(say);
// A step that failed has said so.
await play(runner, { use: (stop) => stops.push(stop), minutes: values.steady ? fullMinutes : minutes }).catch(
  () => undefined,
);
// An interrupted run fails for that reason, and the signal handler ends this process.
if (interruptedBy === undefined) {
  await stopAll();
  const score = runner.score();
  say(scoreLine(score));
  process.exit(score.failed === 0 ? 0 : 1);
}
