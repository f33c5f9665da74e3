/** How soon a change of a file is in force, by what the file system says of it. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfigFile } from '../../../functions/local/config/config-file.ts';
import { followConfig } from '../../../functions/local/config/configuration.ts';
import { targetsIn } from '../../../functions/local/config/file-targets.ts';
import { immediateSearch } from '../../support/immediate-search.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/wait.ts';
import { configWorld } from './config-world.ts';

const target = (name: string) =>
  `metadata: { name: ${name} }\nspec: { host: 10.0.0.1, readinessProbe: { tcpSocket: { port: 1 } } }\n`;

/** A follower whose folder is watched by the test, and that has come to rest. `converted`: before a file is read. */
async function followed({ converted = async () => undefined }: { readonly converted?: () => Promise<void> } = {}) {
  const folder = temporaryFolder();
  const path = join(folder, 'probelet.yaml');
  writeFileSync(path, 'targets:\n  - files: [targets/*.yaml, "*.target"]\n');
  const { clock, deps, listed, log } = configWorld();
  let onChange: () => void = () => assert.fail('nothing is watched');
  const follower = followConfig(readConfigFile(path), {
    ...{ deps, clock, onAlerts: () => undefined, fileSearch: immediateSearch },
    openConverter: () => ({
      async convert(asked) {
        await converted();
        return targetsIn(asked);
      },
      close: async () => undefined,
    }),
    watchFolder: (_, changed) => {
      onChange = changed;
      return { close: () => undefined };
    },
  });
  await clock.advance(25_000);
  const write = (name: string) => writeFileSync(join(folder, `${name}.target`), target(name));
  const names = async () => (await listed()).map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  const stop = () => clock.runUntil(follower.stop());
  return { clock, log, follower, write, names, changed: () => onChange(), stop };
}

test('a configuration of which nothing is to be warned is followed without a warning', async () => {
  const { log, stop } = await followed();
  await stop();
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'warn'),
    [],
  );
});

test('a change that the file system tells is in force once it has settled', async () => {
  const { clock, write, names, changed, stop } = await followed();
  write('heard');
  changed();
  await clock.advance(250);
  assert.deepEqual(await names(), [], 'it may be half a change');
  await clock.advance(250);
  assert.deepEqual(await names(), ['heard']);
  await stop();
});

test('a change that it does not tell is in force after the next look', async () => {
  const { clock, write, names, stop } = await followed();
  write('unheard');
  await clock.advance(1_000);
  assert.deepEqual(await names(), []);
  await clock.advance(10_000);
  assert.deepEqual(await names(), ['unheard']);
  await stop();
});

test('a reload does not wait for the next look, and neither does the end', async () => {
  const { clock, follower, write, names, stop } = await followed();
  const sinceMs = clock.monotonicMs();
  write('reloaded');
  follower.reload();
  // The configuration is parsed in a thread, which the clock does not wait for.
  const isInForce = async () => (await names()).includes('reloaded');
  await until('it is in force', { withinMs: 60_000, pollMs: 20 }, isInForce);
  await stop();
  assert.ok(clock.monotonicMs() - sinceMs < 100, 'it waited');
});

test('it has ended once nothing of it is under way', async () => {
  let release: () => void = () => assert.fail('nothing is read');
  const converted = () =>
    new Promise<void>((resolve) => {
      release = resolve;
    });
  const { clock, follower, write, changed } = await followed({ converted });
  write('read for long');
  changed();
  await clock.advance(1_000);
  let isOver = false;
  const stopped = follower.stop().then(() => {
    isOver = true;
  });
  await clock.advance(1_000);
  assert.equal(isOver, false, 'a file is being read');
  release();
  await clock.runUntil(stopped);
});
