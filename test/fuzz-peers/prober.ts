/** The prober under test: the product's probers over the guarded dialer, in their own process. */

import type { ProbeRequest } from '../../shared/core/spec/handlers.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { resolver } from '../../shared/net/resolver.ts';
import type { Prober } from '../../shared/prober/prober.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { noSecrets } from '../support/no-secrets.ts';
import { withNewName } from './dns-messages.ts';
import { type Lateness, startNeighbours } from './neighbours.ts';

export type ProberOrder =
  | {
      readonly kind: 'probe';
      readonly requests: readonly ProbeRequest[];
      readonly lanes: number;
      readonly lastMs: number;
    }
  | { readonly kind: 'neighbours'; readonly port: number };

export type Probed = {
  readonly probes: number;
  /** How many ended in each way. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly wallMs: number;
  readonly cpuMs: number;
  /** The most that was seen meanwhile, MiB. */
  readonly rssMib: number;
  readonly heapMib: number;
  /** Of every neighbour's probe that was due meanwhile. */
  readonly latenesses: readonly Lateness[];
  /** The first probe that exceeded its deadline, or threw. */
  readonly wrong?: string;
};

const [, , dnsServer] = process.argv;
const resolve = resolver({ clock, ...(dnsServer !== undefined && { servers: [dnsServer] }) });
const probers = proberRegistry({
  clock,
  dial: guardedDialer({ resolve, policy: dialPolicy({ mode: 'local' }), clock }),
  run: () => Promise.resolve({ kind: 'notStarted', message: 'no commands here', isProberError: true }),
  secrets: noSecrets,
});

let takeLatenesses: () => Promise<readonly Lateness[]> = () => Promise.resolve([]);

const sampleMs = 20;
const mib = 1024 * 1024;

function sampleMemory() {
  let [rss, heap] = [0, 0];
  const sample = () => {
    const used = process.memoryUsage();
    rss = Math.max(rss, used.rss);
    heap = Math.max(heap, used.heapUsed);
  };
  sample();
  const timer = setInterval(sample, sampleMs);
  return () => {
    clearInterval(timer);
    sample();
    return { rssMib: rss / mib, heapMib: heap / mib };
  };
}

function ask(request: ProbeRequest) {
  // A known name would cost nothing.
  if (request.kind === 'http') return probers.http({ ...request, url: withNewName(request.url) });
  const prober = probers[request.kind] as Prober<ProbeRequest>;
  return prober(request);
}

/** On a busy machine a probe may end so long after its time-out. */
const graceMs = 2_000;

async function probeAll({ requests, lanes, lastMs }: Extract<ProberOrder, { kind: 'probe' }>): Promise<Probed> {
  await takeLatenesses();
  globalThis.gc?.();
  const memory = sampleMemory();
  const before = process.cpuUsage();
  const startMs = clock.monotonicMs();
  const outcomes: Record<string, number> = {};
  let wrong: string | undefined;
  let next = 0;
  const lane = async () => {
    for (;;) {
      const at = next;
      next += 1;
      const isOver = at >= requests.length && clock.monotonicMs() - startMs >= lastMs;
      const request = requests[at % requests.length];
      if (isOver || request === undefined) return;
      const begunMs = clock.monotonicMs();
      const threw = (thrown: unknown) => ({ outcome: 'threw', error: String(thrown), failureClass: 'THROWN' });
      const { outcome, failureClass = '', error } = await ask(request).catch(threw);
      const tookMs = clock.monotonicMs() - begunMs;
      if (tookMs > request.timeoutMs + graceMs) wrong ??= `probe ${at} took ${tookMs.toFixed(0)} ms`;
      if (outcome === 'threw') wrong ??= `probe ${at} threw ${error}`;
      const key = `${outcome} ${failureClass}`.trim();
      outcomes[key] = (outcomes[key] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  const { user, system } = process.cpuUsage(before);
  const wallMs = clock.monotonicMs() - startMs;
  const latenesses = await takeLatenesses();
  const probes = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  const cpuMs = (user + system) / 1000;
  return { probes, outcomes, wallMs, cpuMs, ...memory(), latenesses, ...(wrong !== undefined && { wrong }) };
}

process.on('message', async (order: ProberOrder) => {
  if (order.kind === 'probe') process.send?.(await probeAll(order));
  else {
    takeLatenesses = startNeighbours(probers, order.port);
    process.send?.('started');
  }
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
