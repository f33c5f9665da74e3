/** Probes that find what the truth says. */
import type { Probing } from '../../../functions/local/process/probing.ts';
import type { ProbeRequest } from '../../../shared/core/spec/handlers.ts';
import type { Attempt } from '../../../shared/core/spec/types.ts';
import { sleep } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';
import { fileTargets } from './files.ts';
import { forever, type Life } from './life.ts';
import type { Truth } from './truth.ts';

const latencyMsMax = 50;

export function scriptedProbing(truth: Truth, life: Life, random: Random): Probing {
  const probe = async (request: ProbeRequest): Promise<Attempt> => {
    const isAsked = ({ port }: { readonly port: number }) => request.kind === 'tcp' && port === request.port;
    const found = truth.targets.find(isAsked);
    const totalMs = random.next() * latencyMsMax;
    await sleep(life.clock, totalMs);
    if (!life.alive || !(found || fileTargets.some(isAsked))) return forever();
    if (found) found.probedMs = life.clock.monotonicMs();
    const timings = { totalMs };
    return found?.isDown
      ? { outcome: 'failure', output: 'connection refused', failureClass: 'CONNECT_REFUSED', timings }
      : { outcome: 'success', output: '', timings };
  };
  const nothing = async () => Promise.reject(new Error('there is no network but the script'));
  return {
    canaries: [],
    advise: () => [],
    forRun: () => ({
      dial: nothing,
      resolve: nothing,
      probers: { exec: probe, http: probe, tcp: probe, grpc: probe },
      abandon: () => undefined,
    }),
    close: async () => undefined,
  };
}
