/**
 * An emulator that checks signatures and what roles allow, in the place of an account. The policies of buckets and
 * queues ask for TLS, so a proxy in front of it says that each request has come by TLS.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { startMinistack } from '../../../support/ministack.ts';

export type StrictEmulator = { readonly endpoint: string; stop(): Promise<void> };

/** Takes the place of `node` for the emulator, so that the functions use the proxy, too. */
const proxiedNode = (endpoint: string): string => `#!/bin/bash
export AWS_ENDPOINT_URL='${endpoint}'
if [ -n "$PROBELET_SHARD_QUEUE_URL" ]; then
  rest="\${PROBELET_SHARD_QUEUE_URL#http*://}"
  export PROBELET_SHARD_QUEUE_URL="${endpoint}/\${rest#*/}"
fi
exec '${process.execPath}' "$@"
`;

export async function startStrictEmulator(): Promise<StrictEmulator> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-emulator-'));
  const ministack = await startMinistack({ programs: folder, isStrict: true });
  const proxy = await startFaultProxy({ ...ministack, headers: { 'x-forwarded-proto': 'https' } });
  writeFileSync(join(folder, 'node'), proxiedNode(proxy.endpoint), { mode: 0o755 });
  return {
    endpoint: proxy.endpoint,
    async stop() {
      await ministack.stop();
      await proxy.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
