/**
 * An emulator that checks signatures and what roles allow, in the place of an account. The policies of buckets and
 * queues ask for TLS, so a proxy in front of it says that each request has come by TLS. The functions act as the owner
 * of the account: it knows no condition on the source of an event, without which they may publish nothing.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { startMinistack } from '../../../support/ministack.ts';
import type { Keys } from '../cdk.ts';

export type StrictEmulator = { readonly endpoint: string; readonly owner: Keys; stop(): Promise<void> };

const owner: Keys = { accessKeyId: 'test', secretAccessKey: 'test' };

/** Takes the place of `node` for the emulator, which runs the functions with it. */
const ownersNode = (endpoint: string): string => `#!/bin/sh
unset AWS_SESSION_TOKEN
export AWS_ENDPOINT_URL='${endpoint}'
export AWS_ACCESS_KEY_ID='${owner.accessKeyId}' AWS_SECRET_ACCESS_KEY='${owner.secretAccessKey}'
exec '${process.execPath}' "$@"
`;

export async function startStrictEmulator(): Promise<StrictEmulator> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-emulator-'));
  const ministack = await startMinistack({ programs: folder, isStrict: true });
  const proxy = await startFaultProxy({ ...ministack, headers: { 'x-forwarded-proto': 'https' } });
  writeFileSync(join(folder, 'node'), ownersNode(proxy.endpoint), { mode: 0o755 });
  return {
    endpoint: proxy.endpoint,
    owner,
    async stop() {
      await ministack.stop();
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
