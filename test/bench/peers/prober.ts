/**
 * The product's side of `npm run bench:peers`, in a process of its own, as the Go program beside it is kubelet's:
 * `saturated KIND PORT PROBES CONCURRENCY` and `paced PORT TARGETS SECONDS`. Prints one line of JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRuntime } from '../../../functions/local/runtime.ts';
import type { Handler } from '../../../shared/core/probe-request.ts';
import { systemClock as clock, sleep } from '../../../shared/lib/clock.ts';
import { systemRandom as random } from '../../../shared/lib/random.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import { dialPolicy } from '../../../shared/net/policy.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { probe } from '../../../shared/prober/probe.ts';
import { proberRegistry } from '../../../shared/prober/registry.ts';
import { askApi, register } from '../../support/api-client.ts';
import { noSecrets } from '../../support/no-secrets.ts';
import { orderOnLoopback } from '../../support/probe-order.ts';
import { recordingLog } from '../../support/recording-log.ts';
import { probeTotals } from '../../support/scraped.ts';
import { until } from '../../support/wait.ts';

const timeoutSeconds = 5;
/**
 * Targets have addresses of their own, as real ones: closed connections to one address would use up its local ports.
 */
const hosts = 200;
const hostOf = (at: number): string => `127.0.0.${(at % hosts) + 1}`;

const measured = ({
  probes,
  failed,
  cpu,
}: {
  readonly probes: number;
  readonly failed: number;
  readonly cpu: number;
}) => ({
  probes,
  failed,
  cpuMicros: cpu / probes,
  rssMb: process.resourceUsage().maxRSS / 1_024,
});

const [mode, ...args] = process.argv.slice(2);
console.log(JSON.stringify(await (mode === 'paced' ? paced() : saturated())));

/** The product's probers, resolver and dial policy. */
function ports() {
  const dial = guardedDialer({ resolve: resolver({ clock }), policy: dialPolicy({ mode: 'local' }), clock });
  const run = async () => ({ kind: 'denied', message: 'not here' }) as const;
  return { clock, probers: proberRegistry({ dial, clock, run, secrets: noSecrets }) };
}

function handlerOf(kind: string, port: number): Handler {
  switch (kind) {
    case 'tcp':
      return { tcpSocket: { port }, timeoutSeconds };
    case 'grpc':
      return { grpc: { port, service: '' }, timeoutSeconds };
    default:
      return { httpGet: { port, path: '/healthz', scheme: kind.toUpperCase() }, timeoutSeconds };
  }
}

async function saturated() {
  const [kind = '', port, probes, concurrency] = args;
  const handler = handlerOf(kind, Number(port));
  const orders = Array.from({ length: hosts }, (_, at) => ({ ...orderOnLoopback, host: hostOf(at), handler }));
  const own = ports();
  const run = async (count: number): Promise<number> => {
    let left = count;
    let failed = 0;
    const lane = async () => {
      while (left > 0) {
        left -= 1;
        const { conclusion } = await probe(own, orders[left % hosts] ?? orderOnLoopback);
        if (conclusion.kind !== 'result' || conclusion.result !== 'success') failed += 1;
      }
    };
    await Promise.all(Array.from({ length: Number(concurrency) }, lane));
    return failed;
  };
  // The first ones pay for what is done once.
  await run(Number(probes) / 4);
  const before = cpuMicros();
  const failed = await run(Number(probes));
  return measured({ probes: Number(probes), failed, cpu: cpuMicros() - before });
}

/** All of `npm start` but the listener: schedule, workers, commits, metrics. */
async function paced() {
  const [port, targets, seconds] = args;
  const dataDir = mkdtempSync(join(tmpdir(), 'probelet-paced-'));
  const runtime = startRuntime({ dataDir }, { clock, random, log: recordingLog() });
  try {
    await runtime.shard.loaded;
    const readinessProbe = { ...handlerOf('http', Number(port)), periodSeconds: 1 };
    for (let at = 0; at < Number(targets); at += 1)
      await register(runtime, `paced-${at}`, { host: hostOf(at), readinessProbe });
    const totals = async () => probeTotals((await askApi(runtime, 'GET', '/metrics')).text);
    const count = async (isCounted: (result: string | undefined) => boolean) =>
      (await totals()).reduce((sum, { labels, value }) => sum + (isCounted(labels.result) ? value : 0), 0);
    const all = () => count(() => true);
    const failures = () => count((result) => result !== 'successful');
    await until(
      'all have been probed',
      { withinMs: 60_000, pollMs: 500 },
      async () => (await all()) >= 3 * Number(targets),
    );
    const [probesBefore, failedBefore] = [await all(), await failures()];
    const before = cpuMicros();
    await sleep(clock, Number(seconds) * 1_000);
    const cpu = cpuMicros() - before;
    return measured({ probes: (await all()) - probesBefore, failed: (await failures()) - failedBefore, cpu });
  } finally {
    await runtime.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

function cpuMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
