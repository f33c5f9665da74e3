import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { hostsFile, parsedHosts } from '../../shared/net/hosts-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { virtualClock } from '../support/virtual-clock.ts';

describe('the hosts file', () => {
  test('gives every name its addresses in order, whatever the spacing, case and comments', () => {
    const names = parsedHosts(
      '127.0.0.1\tLocalHost me. # mine\n# 1.1.1.1 no\n::1  localhost\nnonsense me\n\n10.0.0.1\n',
    );
    assert.deepEqual(Object.fromEntries(names), { localhost: ['127.0.0.1', '::1'], 'me.': ['127.0.0.1'] });
  });

  test('knows a name of several labels with and without its last dot, and a single label as it is written', (t) => {
    const path = join(temporaryFolder(t), 'hosts');
    writeFileSync(path, '10.0.0.1 a.test b.test. localhost\n');
    const hosts = hostsFile(path, virtualClock());
    for (const name of ['a.test', 'a.test.', 'b.test', 'b.test.', 'localhost'])
      assert.deepEqual(hosts(name), ['10.0.0.1'], name);
    assert.equal(hosts('localhost.'), undefined);
  });

  test('stays as last read while the process has no descriptor to read a change', (t) => {
    const path = join(temporaryFolder(t), 'hosts');
    writeFileSync(path, '10.0.0.1 a\n');
    const reader = join(import.meta.dirname, 'hosts-file-reader.ts');
    const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, reader, path];
    assert.equal(execFileSync('sh', args, { encoding: 'utf8' }), '["10.0.0.1","10.0.0.1","10.0.0.22"]');
  });

  test('is read again within 5 s of a change', async (t) => {
    const path = join(temporaryFolder(t), 'hosts');
    const clock = virtualClock();
    const hosts = hostsFile(path, clock);
    assert.equal(hosts('a'), undefined, 'a missing file is empty');
    writeFileSync(path, '10.0.0.1 a\n');
    assert.equal(hosts('a'), undefined);
    await clock.advance(5000);
    assert.deepEqual(hosts('a'), ['10.0.0.1']);
    writeFileSync(path, '10.0.0.22 a\n');
    await clock.advance(5000);
    assert.deepEqual(hosts('a'), ['10.0.0.22']);
    rmSync(path);
    await clock.advance(5000);
    assert.equal(hosts('a'), undefined);
  });
});
