/** A process with alerts, whose clock runs 20 times faster than that of probes, and the servers around it. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { readConfigFile } from '../../../functions/local/config/config-file.ts';
import { startRuntime } from '../../../functions/local/process/runtime.ts';
import { systemClock } from '../../../shared/lib/clock.ts';
import { systemRandom } from '../../../shared/lib/random.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { fastClock } from '../../support/fast-clock.ts';
import { recordingLog } from '../../support/recording-log.ts';

/** Ends with the test. Returns the port. */
export async function listening(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** `config`: the path of the configuration. */
export async function alertingRuntime(t: TestContext, dataDir: string, config: string) {
  const ports = {
    clock: systemClock,
    random: systemRandom,
    log: recordingLog(),
    network: { policy: dialPolicy({ mode: 'local' }), dnsServers: [] },
    wayOut: { kind: 'named', canaries: [] } as const,
    alertClock: fastClock,
  };
  const runtime = startRuntime({ dataDir, config: readConfigFile(config) }, ports);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= runtime.stop();
    return stopped;
  };
  // Otherwise a failure would leave it running, and the test would never end.
  t.after(stop);
  await runtime.shard.loaded;
  return { runtime, stop };
}
