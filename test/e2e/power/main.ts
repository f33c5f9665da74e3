/**
 * `npm run e2e:power [-- --seconds N] [--seed N]`: the power goes after each call of `npm start` that changes its disk,
 * and a disk keeps what was synced and any part of the rest. Nothing that a client or a receiver knows is lost. Then
 * the same without each of the syncs, which has to be noticed; `--slice` leaves that out. Ends with `N passed, N
 * failed`.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mutantVariable } from '../../mutation/mutant.ts';
import { sourceOf } from '../../support/edited-source.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { say, tallyOf } from '../../support/tally.ts';
import { judgeLosses } from './judge.ts';
import { liveOnce } from './life.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '30' },
    slice: { type: 'boolean', default: false },
    seed: { type: 'string', default: `${Math.floor(Math.random() * 2 ** 31)}` },
  },
});
if (spawnSync('which', ['strace']).status !== 0) {
  console.error('strace missing: apt-get install -y --no-install-recommends strace');
  process.exit(2);
}

type Removed = { readonly name: string; readonly file: string; readonly from: string; readonly to: string };

/** Syncs that what a client or a receiver knows relies on. */
const removals: readonly Removed[] = [
  {
    name: 'commits wait for the disk',
    file: 'shared/store/sqlite/file.ts',
    from: 'PRAGMA synchronous = FULL',
    to: 'PRAGMA synchronous = NORMAL',
  },
  {
    name: 'alerts are on the disk before they are renamed',
    file: 'functions/local/process/durable-file.ts',
    from: 'await file.sync();',
    to: '',
  },
  {
    name: 'alerts have their name before they are sent',
    file: 'functions/local/alerts/alert-file.ts',
    from: 'await syncFolder(dirname(path));',
    to: '',
  },
  {
    name: 'a new data folder has its name',
    file: 'functions/local/process/data-dir.ts',
    from: 'if (first !== undefined) syncMadeFolders(first, given);',
    to: '',
  },
];
const removalSeconds = 12;
/** In memory, where a machine has it. */
const fastFolder = '/dev/shm';
const hook = new URL('../../mutation/hook.ts', import.meta.url).href;

const { verdict, end } = tallyOf();
say(`seed ${values.seed}`);
const random = seededRandom(Number(values.seed));

const whole = await judged(Number(values.seconds), [process.execPath], process.env);
verdict(`nothing known is lost: ${whole.losses} power losses, ${whole.disks} different disks`, whole.wrong);
for (const { name, file, from, to } of values.slice ? [] : removals) {
  const start = sourceOf(file).indexOf(from);
  if (start === -1 || sourceOf(file).includes(from, start + 1)) throw new Error(`${file} has to have one: ${from}`);
  const edit = JSON.stringify({ file, start, end: start + from.length, replacement: to });
  const env = { ...process.env, [mutantVariable]: edit };
  const { wrong } = await judged(removalSeconds, [process.execPath, '--import', hook], env, true);
  verdict(`without it something is lost: ${name}`, wrong.length > 0);
  say(`       ${wrong[0] ?? 'nothing was noticed'}`);
}
end();

async function judged(seconds: number, node: readonly string[], env: NodeJS.ProcessEnv, isBrief = false) {
  // On a disk, where a sync takes its time.
  const folder = mkdtempSync(join(tmpdir(), 'probelet-power-'));
  const disks = mkdtempSync(join(existsSync(fastFolder) ? fastFolder : tmpdir(), 'probelet-disks-'));
  try {
    return await judgeLosses(await liveOnce({ folder, seconds, random, node, env }), {
      folder: disks,
      random,
      isBrief,
    });
  } finally {
    for (const each of [folder, disks]) rmSync(each, { recursive: true });
  }
}
