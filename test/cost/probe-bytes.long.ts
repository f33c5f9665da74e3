/** What probes send and receive, as the kernel counts it on a link between two networks, beside the cost estimate's. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { probeTransfer } from '../../shared/cost/transfer.ts';
import type { Counted } from './probe-bytes/room.ts';

/** root may lack the right to user namespaces, and does not need them. */
const asRoot: readonly string[] = process.getuid?.() === 0 ? [] : ['--map-root-user'];
const room = [...asRoot, '--net', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child'];
/** Where `ip` is, though not for everybody. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
const timeout = 120_000;

/** The estimate's, of what is counted: it is rounded up. */
const within: readonly [number, number] = [1, 1.2];

describe('the bytes that the estimate reckons with', async () => {
  const inside = fileURLToPath(new URL('probe-bytes/room.ts', import.meta.url));
  const { stdout } = await promisify(execFile)('unshare', [...room, process.execPath, inside], { env, timeout });
  const counted = JSON.parse(stdout) as Counted;
  for (const [name, { sent, received }] of Object.entries(counted))
    test(`of a probe: ${name}`, () => {
      const tlsSessionResumption = name === 'resumed';
      const probe = tlsSessionResumption ? 'https' : (name as 'http' | 'https' | 'tcp' | 'grpc');
      const estimated = probeTransfer({ probe }, { tlsSessionResumption });
      const shown = JSON.stringify({ counted: { sent, received }, estimated });
      const isWithin = (share: number) => share >= within[0] && share <= within[1];
      assert.ok(isWithin(estimated.sent / sent), shown);
      assert.ok(isWithin(estimated.received / received), shown);
    });
});
