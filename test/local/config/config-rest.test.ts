/** When files of targets count as being at rest, so that what they no longer have is removed. */
import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Rest, restMs } from '../../../functions/local/config/config-rest.ts';
import { configTargets } from '../../../functions/local/config/config-targets.ts';
import { targetsIn } from '../../../functions/local/config/file-targets.ts';
import { immediateSearch } from '../../support/immediate-search.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { configWorld, unreadAnswer } from './config-world.ts';

const isOverAfter = (looks: readonly (readonly [number, string])[]): boolean => {
  const rest = new Rest();
  for (const [atMs, found] of looks) rest.look(found, atMs);
  return rest.isOver();
};

test('files are at rest once looks in a row have found the same for half a minute', () => {
  const steady = [0, 10_000, 20_000, restMs].map((atMs) => [atMs, 'a'] as const);
  assert.equal(isOverAfter(steady), true);
  assert.equal(isOverAfter(steady.slice(0, 3)), false);
  assert.equal(isOverAfter([...steady.slice(0, 2), [20_000, 'b'], [restMs, 'a']]), false);
});

test('two looks that are far apart say nothing of the time between them', () => {
  assert.equal(isOverAfter([0, 90_000].map((atMs) => [atMs, 'a'])), false);
  assert.equal(isOverAfter([0, 90_000, 100_000, 110_000, 120_000].map((atMs) => [atMs, 'a'])), true);
});

const port = '{ tcpSocket: { port: 1 } }';
const target = (name: string, second = '') =>
  `---\nmetadata: { name: ${name} }\nspec:\n  host: 10.0.0.1\n  readinessProbe: ${port}\n${second}`;
const twoProbes = (name: string) => target(name, `  livenessProbe: ${port}\n`);

/** A file that is written, read by one process after the other, and looked at as often as `npm start` does. */
function newWorld() {
  const path = join(temporaryFolder(), 'a.yaml');
  const { clock, deps, listed } = configWorld();
  let version = 0;
  const process = (onRead: () => 'unread' | undefined) =>
    configTargets(deps, {
      ...{ clock, signal: new AbortController().signal, fileSearch: immediateSearch },
      openConverter: () => ({
        convert: async (asked) => (onRead() === undefined ? targetsIn(asked) : unreadAnswer(asked)),
        close: async () => undefined,
      }),
    });
  return {
    clock,
    process,
    write(text: string) {
      version += 1;
      writeFileSync(path, text);
      utimesSync(path, version, version);
    },
    async look(files: ReturnType<typeof process>, times: number) {
      for (let look = 0; look < times; look += 1) {
        await files.apply({ folder: join(path, '..'), targets: [{ files: ['*.yaml'] }] }, false);
        await clock.advance(10_000);
      }
    },
    shown: listed,
  };
}

test('half a file that is read in place of the version that was found removes nothing', async () => {
  const { process, write, look, shown } = newWorld();
  const whole = target('one') + target('two');
  write(whole);
  await look(
    process(() => undefined),
    1,
  );
  let reads = 0;
  const next = process(() => {
    reads += 1;
    if (reads < 3) return 'unread';
    if (reads === 3) write(target('one'));
    return undefined;
  });
  await look(next, 4);
  assert.equal(reads, 3);
  write(whole);
  await look(next, 4);
  const leaving = (await shown()).filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
  assert.deepEqual(leaving, []);
});

test('half a file that is read in place of a version that has waited takes no probe away', async () => {
  const { process, write, look, shown } = newWorld();
  write(twoProbes('one') + target('two'));
  let isHalf = false;
  const files = process(() => {
    if (isHalf) write(target('one'));
    return undefined;
  });
  await look(files, 1);
  write(twoProbes('one'));
  await look(files, 3);
  isHalf = true;
  await look(files, 1);
  isHalf = false;
  const [one] = (await shown()).filter(({ metadata }) => metadata.name === 'one');
  assert.ok('livenessProbe' in (one?.spec.containers[0] ?? {}));
});
