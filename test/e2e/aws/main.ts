/**
 * `npm run e2e [-- --steady] [-- --aws …] [-- --help]`: deploys the product with the CDK on an emulator of AWS, or in
 * an account, uses it as its users do, and removes it. Prints each step with its time and ends with
 * `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { scoreLine } from '../../support/figures.ts';
import { pythonPrograms } from '../../support/python-programs.ts';
import { startStrictEmulator } from './account/emulator.ts';
import { playAccount } from './account/play.ts';
import { type Site, siteOf } from './account/site.ts';
import { emulatorPlace, region } from './cdk.ts';
import { play, playSyncsStop } from './play.ts';
import { stepRunner } from './runner.ts';
import type { Use } from './steps/deploy.ts';
import { fullMinutes } from './steps/steady.ts';

const help = `npm run e2e [-- OPTION ...]

Deploys probelet on an emulator of AWS, uses it as its users do, and removes it.

  --steady        measures the steady state for 10 min instead of 2, counts what a take-over costs as it comes, and
                  disables status-sync until its alarm would be raised
  --syncs-stop    only disables status-sync until its alarm would be raised
  --aws           two deployments side by side, in an account of AWS, with the credentials of the environment: what is
                  made is removed at the end, also after an interruption, and costs a few cents; docs/operating.md,
                  A first half day on AWS, says what each step decides
  --account ID    the account, so that no other is meant by mistake
  --region NAME   default us-east-1
  --profile NAME  of the AWS configuration
  --on-emulator   plays the steps of --aws with the endpoint of an emulator, and says what that skips
`;

const { values } = parseArgs({
  options: {
    steady: { type: 'boolean', default: false },
    'syncs-stop': { type: 'boolean', default: false },
    aws: { type: 'boolean', default: false },
    account: { type: 'string' },
    region: { type: 'string', default: region },
    profile: { type: 'string' },
    'on-emulator': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);
if (values.help) {
  say(help);
  process.exit(0);
}

const isReal = values.aws && !values['on-emulator'];
if (isReal && !/^\d{12}$/.test(values.account ?? '')) {
  process.stderr.write('--aws: needs --account with the 12 digits of an account for such trials\n');
  process.exit(1);
}
try {
  if (!isReal) pythonPrograms();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

/** Minutes of steady targets: the whole run takes less than 10 min, also if a slot ends in between. */
const minutes = 2;

const runner = stepRunner(say);
const stops: (() => Promise<void> | void)[] = [];
const use: Use = (stop) => void stops.push(stop);
/** Ends what was started, the last one first. A failure to end is printed and does not keep the others. */
const stopAll = async () => {
  for (let stop = stops.pop(); stop; stop = stops.pop())
    await (async () => stop())().catch((error: unknown) => say(`not ended: ${String(error)}`));
};
const end = async (): Promise<never> => {
  await stopAll();
  const score = runner.score();
  say(scoreLine(score));
  process.exit(score.failed === 0 ? 0 : 1);
};
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    // A terminal and npm both send it.
    if (isInterrupted) return;
    isInterrupted = true;
    say(`${signal}: what was made is removed`);
    runner.interrupt();
    void end();
  });

const options = { use, isFull: values.steady, minutes: values.steady ? fullMinutes : minutes };
const played = async () => {
  if (values.aws) return playAccount(runner, isReal ? realSite() : await emulatedSite(), use);
  return values['syncs-stop'] ? playSyncsStop(runner, use) : play(runner, options);
};
// A step that failed has said so.
await played().catch(() => undefined);
// The handler of the signal ends this process.
if (!isInterrupted) await end();

function realSite(): Site {
  const { account = '', region, profile } = values;
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  const own = Object.entries(process.env).filter(([name]) => name === 'HOME' || name.startsWith('AWS_'));
  return siteOf({ account, region, env: Object.fromEntries(own) });
}

async function emulatedSite(): Promise<Site> {
  const { endpoint, owner, stop } = await runner.step('starts an emulator that checks rights', startStrictEmulator);
  use(stop);
  const place = emulatorPlace(endpoint, owner);
  // The client of this process takes them from there, as it takes those of a user.
  for (const [name, value] of Object.entries(place.env)) process.env[name] = value;
  return siteOf({ ...place, account: values.account ?? place.account, endpoint });
}
