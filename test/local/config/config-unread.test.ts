/** Files of targets whose reading fails for a while: the machine is busy, or its disk is. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { configTargets } from '../../../functions/local/config/config-targets.ts';
import { targetConverter } from '../../../functions/local/threads/converter.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { configWorld, unreadAnswer } from './config-world.ts';

const target = (name: string, port = 1) =>
  `---\nmetadata: { name: ${name} }\nspec: { host: 10.0.0.1, readinessProbe: { tcpSocket: { port: ${port} } } }\n`;
/** Longer than any rest between two tries. */
const lookMs = 11_000;
const looks = 12;
/** No file is read in time by it. */
const impatientClock: typeof systemClock = {
  ...systemClock,
  setTimer: (_, callback) => systemClock.setTimer(0, callback),
};

/** The targets after some looks at a file, of which the first ones fail. */
async function shownAfter(texts: readonly string[], failures: number): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const { clock, deps, listed } = configWorld();
  let failed = 0;
  let isFailing = false;
  const openConverter: typeof targetConverter = () => {
    const isLate = isFailing && failed < failures;
    if (isLate) failed += 1;
    return targetConverter(isLate ? impatientClock : systemClock);
  };
  const { signal } = new AbortController();
  const files = configTargets(deps, { clock, signal, openConverter });
  for (const [index, text] of texts.entries()) {
    writeFileSync(join(folder, 'a.yaml'), text);
    isFailing = index === texts.length - 1;
    for (let look = 0; look < looks; look += 1) {
      await files.apply({ folder, targets: [{ files: ['a.yaml'] }] }, false);
      await clock.advance(lookMs);
    }
  }
  assert.equal(failed, failures);
  const items = await listed();
  return items.flatMap(({ metadata: { name, deletionTimestamp } }) => (deletionTimestamp ? [] : [name])).sort();
}

for (const failures of [0, 1, 2]) {
  test(`a new file that fails ${failures} times is applied without a change of it`, async () =>
    assert.deepEqual(await shownAfter([target('one')], failures), ['one']));

  test(`a changed file that fails ${failures} times is applied without another change`, async () => {
    const texts = [target('one') + target('two'), target('one') + target('three')];
    assert.deepEqual(await shownAfter(texts, failures), ['one', 'three']);
  });
}

test('a version that cannot be read is tried again after a rest that doubles up to 5 min, another version at once', async () => {
  const folder = temporaryFolder();
  const { clock, deps } = configWorld();
  const readAtSeconds: number[] = [];
  let second = 0;
  const openConverter: typeof targetConverter = () => ({
    convert: async (asked) => {
      readAtSeconds.push(second);
      return unreadAnswer(asked);
    },
    close: async () => {},
  });
  const files = configTargets(deps, { clock, signal: new AbortController().signal, openConverter });
  const changedAtSecond = 1_000;
  for (; second < changedAtSecond + 31; second += 1) {
    if (second === 0 || second === changedAtSecond)
      writeFileSync(join(folder, 'a.yaml'), target(second === 0 ? 'one' : 'another'));
    await files.apply({ folder, targets: [{ files: ['a.yaml'] }] }, false);
    await clock.advance(1_000);
  }
  const first = [0, 10, 30, 70, 150, 310, 610, 910];
  assert.deepEqual(readAtSeconds, [...first, ...[0, 10, 30].map((seconds) => changedAtSecond + seconds)]);
});

test('a file that could not be read is all right again once a later version is read, although that one waits', async () => {
  const folder = temporaryFolder();
  const { clock, deps, log } = configWorld();
  let isFailing = false;
  const openConverter: typeof targetConverter = () => {
    const converter = targetConverter(systemClock);
    return {
      ...converter,
      convert: async (asked, signal) => (isFailing ? unreadAnswer(asked) : converter.convert(asked, signal)),
    };
  };
  const files = configTargets(deps, { clock, signal: new AbortController().signal, openConverter });
  const lines = () => log.lines.flatMap(({ message, level }) => (level === 'info' ? message : []));
  const look = async (text: string) => {
    writeFileSync(join(folder, 'a.yaml'), text);
    await files.apply({ folder, targets: [{ files: ['a.yaml'] }] }, false);
  };
  await look(target('one') + target('two'));
  isFailing = true;
  await look(target('one', 2) + target('two'));
  isFailing = false;
  const before = lines();
  await look(target('one'));
  assert.deepEqual(lines().slice(before.length), [
    'file of targets has less than before: applied once it has been at rest',
    'file of targets is all right again',
  ]);
});
