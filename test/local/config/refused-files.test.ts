/** What stands in the place of a file: nothing waits for a writer, or reads without an end. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { readConfigFile } from '../../../functions/local/config/config-file.ts';
import { readAllowList, readToken } from '../../../functions/local/options/option-values.ts';
import { targetConverter } from '../../../functions/local/threads/converter.ts';
import { readFault } from '../../../shared/lib/bounded-file.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { fileBytesMax } from '../../../shared/manifest/limits.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Each makes something at the path. */
const kinds: Readonly<Record<string, (path: string, t: TestContext) => unknown>> = {
  'a FIFO': (path) => execFileSync('mkfifo', [path]),
  'a link to a device': (path) => symlinkSync('/dev/zero', path),
  'a link to a FIFO': (path) => {
    execFileSync('mkfifo', [`${path}.fifo`]);
    symlinkSync(`${path}.fifo`, path);
  },
  'a folder': (path) => mkdirSync(path),
  'a socket': (path, t) => {
    const server = createServer().listen(path);
    t.after(() => server.close());
    return new Promise((resolve) => server.once('listening', resolve));
  },
  'a link in a circle': (path) => symlinkSync(path, path),
  'a file that is too large': (path) => writeFileSync(path, Buffer.alloc(fileBytesMax + 1, 'a')),
};

/** Each reads the path, and gives the error. */
const readers: Readonly<Record<string, (path: string) => Promise<string> | string>> = {
  'the configuration': (path) => messageOf(() => readConfigFile(path)),
  'a secret of a receiver': (path) =>
    messageOf(() => readConfigFile(configWith(path, { slack: { url: { file: path } } }))),
  'the certificates of a receiver': (path) =>
    messageOf(() =>
      readConfigFile(configWith(path, { email: { host: 'a', caFile: path, from: 'a@b.test', to: ['a@b.test'] } })),
    ),
  'the token': (path) => messageOf(() => readToken(path)),
  'the commands that are allowed': (path) => messageOf(() => readAllowList(path)),
  'a file of targets': async (path) => {
    const converter = targetConverter(systemClock);
    const { signal } = new AbortController();
    const read = await converter
      .convert({ name: 'a.yaml', path, folders: [dirname(path)] }, signal)
      .finally(() => converter.close());
    return read.kind === 'invalid' ? (read.errors[0]?.detail ?? '') : 'read';
  },
};

function configWith(path: string, receiver: object): string {
  const config = `${path}.config.json`;
  const receivers = [{ name: 'r', ...receiver }];
  writeFileSync(config, JSON.stringify({ alerts: [{ name: 'a', notify: ['r'] }], receivers }));
  return config;
}

function messageOf(read: () => unknown): string {
  try {
    read();
    return 'read';
  } catch (error) {
    return error instanceof Error ? error.message : readFault(error);
  }
}

describe('in the place of', { timeout: 60_000 }, () => {
  for (const [what, read] of Object.entries(readers))
    for (const [kind, make] of Object.entries(kinds))
      test(`${what}: ${kind} is refused, and the message says why`, async (t) => {
        const path = join(temporaryFolder(t), 'it');
        await make(path, t);
        const message = await read(path);
        assert.match(
          message,
          /is not a regular file|is a folder|has more than \d+ bytes|cannot be read \((ELOOP|ENXIO)\)/,
        );
        rmSync(path, { recursive: true });
      });
});
