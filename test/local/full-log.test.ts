/** A log that takes nothing more, as on a full disk, costs log lines and no probe. */
import assert from 'node:assert/strict';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { isHealthy, spawnProduct } from './product.ts';

const full = '/dev/full';
const startMsMax = 20_000;
const lookMs = 100;

describe('npm start continues without', () => {
  for (const streams of [['stdout'], ['stderr'], ['stdout', 'stderr']])
    test(streams.join(' and '), async (t) => {
      const [port, descriptor] = [await freePort(), openSync(full, 'w')];
      const of = (stream: string) => (streams.includes(stream) ? descriptor : 'ignore');
      const args = ['--port', `${port}`, '--data-dir', join(temporaryFolder(t), 'data')];
      const child = spawnProduct(args, {}, ['ignore', of('stdout'), of('stderr')]);
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      t.after(() => {
        child.kill('SIGKILL');
        closeSync(descriptor);
      });
      const untilMs = Date.now() + startMsMax;
      const url = `http://127.0.0.1:${port}`;
      while (!(await isHealthy(url)) && child.exitCode === null && Date.now() < untilMs)
        await sleep(systemClock, lookMs);
      assert.equal(child.exitCode, null, 'it runs');
      assert.ok(await isHealthy(url));
      child.kill('SIGTERM');
      assert.equal(await ended, 0);
    });
});
