/** A log that takes nothing more, as on a full disk, costs log lines and no probe. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { freePort } from '../support/free-port.ts';

const main = join(import.meta.dirname, '../../functions/local/main.ts');
const full = '/dev/full';
const startMsMax = 20_000;
const lookMs = 100;

async function isHealthy(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
  return response?.status === 200;
}

describe('npm start goes on without', () => {
  for (const streams of [['stdout'], ['stderr'], ['stdout', 'stderr']])
    test(streams.join(' and '), async (t) => {
      const [port, folder, descriptor] = [
        await freePort(),
        mkdtempSync(join(tmpdir(), 'probelet-')),
        openSync(full, 'w'),
      ];
      const of = (stream: string) => (streams.includes(stream) ? descriptor : 'ignore');
      const child = spawn(process.execPath, [main, '--port', `${port}`, '--data-dir', join(folder, 'data')], {
        stdio: ['ignore', of('stdout'), of('stderr')],
      });
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      t.after(() => {
        child.kill('SIGKILL');
        closeSync(descriptor);
        rmSync(folder, { recursive: true });
      });
      const untilMs = Date.now() + startMsMax;
      while (!(await isHealthy(port)) && child.exitCode === null && Date.now() < untilMs)
        await sleep(systemClock, lookMs);
      assert.equal(child.exitCode, null, 'it runs');
      assert.ok(await isHealthy(port));
      child.kill('SIGTERM');
      assert.equal(await ended, 0);
    });
});
