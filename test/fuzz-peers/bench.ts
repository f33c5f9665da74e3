/** The processes of one measurement: hostile peers, healthy server, prober. A prober that hangs or dies is replaced. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ProbeRequest } from '../../shared/core/spec/handlers.ts';
import { sleep, systemClock } from '../../shared/lib/clock.ts';
import { answerOf, forkBeside, forkServer } from '../support/children.ts';
import { nameOf } from './dns-messages.ts';
import type { Exchange, Kind } from './kind.ts';
import type { PeerOrder } from './peers.ts';
import type { Probed, ProberOrder } from './prober.ts';

export type Bench = {
  /** Opens a listener for each exchange, and returns the requests that lead to them. */
  readonly open: (kinds: readonly (readonly [Kind, Exchange])[]) => Promise<readonly ProbeRequest[]>;
  /** Ends all listeners. */
  readonly close: () => Promise<void>;
  /** Sends all requests, `lanes` at a time, for at least `lastMs`. A text: the prober hung or died. */
  readonly probe: (requests: readonly ProbeRequest[], options?: ProbeOptions) => Promise<Probed | string>;
  readonly end: () => void;
};

export type ProbeOptions = { readonly lanes?: number; readonly lastMs?: number; readonly withinMs?: number };

/** Enough for the slowest exchange that is linear, on a busy machine. */
const withinMsDefault = 60_000;
const timeoutMs = 30_000;

export async function startBench(options: { readonly neighbours: boolean }): Promise<Bench> {
  const peers = forkBeside('./peers.ts', import.meta.url);
  const dnsServer = `${host}:${await answerOf(peers)}`;
  const healthy = await forkServer('../bench/healthy-server.ts', import.meta.url);

  const startProber = async (): Promise<ChildProcess> => {
    const prober = fork(fileURLToPath(new URL('./prober.ts', import.meta.url)), [dnsServer], {
      execArgv: ['--expose-gc'],
    });
    await answerOf(prober);
    const order: ProberOrder = { kind: 'neighbours', port: healthy.port };
    if (options.neighbours) await answerOf(prober, order);
    return prober;
  };
  let prober = await startProber();

  return {
    open: async (kinds) => {
      const order: PeerOrder = { kind: 'open', exchanges: kinds.map(([, exchange]) => exchange) };
      const ports = (await answerOf(peers, order)) as readonly number[];
      return kinds.map(([kind], at) => requestTo(kind, ports[at] ?? 0));
    },
    close: async () => {
      await answerOf(peers, { kind: 'close' } satisfies PeerOrder);
    },
    probe: async (requests, { lanes = 1, lastMs = 0, withinMs = withinMsDefault } = {}) => {
      const order: ProberOrder = { kind: 'probe', requests, lanes, lastMs };
      const probed = await Promise.race([
        answerOf(prober, order).catch((error: Error) => error.message),
        sleep(systemClock, withinMs).then(() => `no answer within ${withinMs / 1000} s`),
      ]);
      if (typeof probed === 'string') {
        prober.kill('SIGKILL');
        prober = await startProber();
      }
      return probed as Probed | string;
    },
    end: () => {
      prober.kill('SIGKILL');
      for (const child of [peers, healthy.child]) child.disconnect();
    },
  };
}

const host = '127.0.0.1';

/** No server listens on it. */
const deadPort = 1;

function requestTo({ transport }: Kind, port: number): ProbeRequest {
  if (transport === 'dns')
    return { kind: 'http', url: `http://${nameOf(port)}:${deadPort}/`, headers: [], hostOverride: '', timeoutMs };
  if (transport === 'grpc') return { kind: 'grpc', host, port, service: '', timeoutMs };
  const scheme = transport === 'http' ? 'http' : 'https';
  return { kind: 'http', url: `${scheme}://${host}:${port}/`, headers: [], hostOverride: '', timeoutMs };
}
