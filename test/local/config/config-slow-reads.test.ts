/** Files of targets that change while another one, or they themselves, are read for long: nothing that stays may go. */
import assert from 'node:assert/strict';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configTargets } from '../../../functions/local/config/config-targets.ts';
import { targetsIn } from '../../../functions/local/config/file-targets.ts';
import type { targetConverter } from '../../../functions/local/threads/converter.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { immediateSearch } from '../../support/immediate-search.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { configWorld, unreadAnswer } from './config-world.ts';

const target = (name: string) =>
  `---\nmetadata: { name: ${name} }\nspec: { host: 10.0.0.1, readinessProbe: { tcpSocket: { port: 1 } } }\n`;
/** As `npm start` looks at them. */
const pollMs = 10_000;
const readMsMax = 90_000;
const unreadShare = 0.6;
/** Less than files have to rest before anything is removed. */
const partlyMsMax = 29_000;
/** The only ones of the first hundred in which half a file is read in place of the version that was found. */
const keptSeeds = [79, 92];
const lengthMs = 30 * 60_000;
const firstSecond = 2e9;

/** Two files with these targets each, which are away, half written or written again, and always whole soon after. */
const contents: Record<string, readonly string[]> = { 'a.yaml': ['a0', 'a1', 'a2'], 'b.yaml': ['b0', 'b1', 'b2'] };

async function play(seed: number): Promise<readonly string[]> {
  const random = seededRandom(seed);
  const folder = temporaryFolder();
  const { clock, log, store, deps, listed } = configWorld(seed + 1);
  const ended = new AbortController();
  const options = { clock, signal: ended.signal, openConverter: slowConverter(random, clock) };
  const files = configTargets(deps, { ...options, fileSearch: immediateSearch });

  const write = (name: string, count: number) => {
    const path = join(folder, name);
    writeFileSync(path, (contents[name] ?? []).slice(0, count).map(target).join(''));
    utimesSync(path, firstSecond, firstSecond + clock.monotonicMs() / 1_000);
  };
  const change = async (name: string) => {
    while (!ended.signal.aborted) {
      await sleep(clock, 60_000 + random.next() * 120_000, ended.signal);
      const lot = random.next();
      if (lot < 0.4) rmSync(join(folder, name));
      else if (lot < 0.8) write(name, Math.floor(random.next() * 3));
      await sleep(clock, random.next() * partlyMsMax, ended.signal);
      write(name, 3);
    }
  };
  const look = async () => {
    while (!ended.signal.aborted) {
      const { lookMs = pollMs } = await files.apply({ folder, targets: [{ files: ['*.yaml'] }] }, false);
      await sleep(clock, Math.min(lookMs, pollMs), ended.signal);
    }
  };
  for (const name of Object.keys(contents)) write(name, 3);
  void look();
  for (const name of Object.keys(contents)) void change(name);
  await clock.advance(lengthMs);
  ended.abort();
  await clock.advance(0);
  const items = await listed();
  store.close();
  const removed = log.lines.filter(({ message }) => message.startsWith('target removed'));
  const shown = items.map(({ metadata: { name } }) => name).sort();
  return [`shown: ${shown}`, ...removed.map(({ fields }) => `removed: ${fields?.name}`)];
}

/** Some reads take long, and fail in the end. */
const slowConverter =
  (random: Random, clock: Parameters<typeof sleep>[0]): typeof targetConverter =>
  () => ({
    async convert(asked, signal) {
      await sleep(clock, random.next() ** 3 * readMsMax, signal);
      return random.next() >= unreadShare ? targetsIn(asked) : unreadAnswer(asked);
    },
    close: async () => undefined,
  });

test('what each whole version of a file has stays, however long files take to be read meanwhile', async () => {
  const wrong: string[] = [];
  const all = Object.values(contents).flat().join();
  for (const seed of [...Array(30).keys(), ...keptSeeds]) {
    const [shown, ...removed] = await play(seed);
    if (removed.length > 0 || shown !== `shown: ${all}`) wrong.push(`seed ${seed}: ${[shown, ...removed].join('; ')}`);
  }
  assert.deepEqual(wrong, []);
});
