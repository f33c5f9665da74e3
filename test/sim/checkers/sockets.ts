/** Sockets: a process never has more probes in flight than its socket budget. */
import type { ProbeStart } from '../network.ts';
import type { Checker } from './checker.ts';

/** Of one process, and what hanging targets may hold of it: docs/design/limits.md. */
const descriptorsMax = 700;

export const sockets: Checker = (_, violated) => {
  const inFlight = new Map<string, number>();
  const lifeOf = (prober: string): string => prober.slice(0, prober.indexOf('/'));
  const count = (prober: string, more: number): number => {
    const now = (inFlight.get(lifeOf(prober)) ?? 0) + more;
    inFlight.set(lifeOf(prober), now);
    return now;
  };
  const began = ({ prober, startMs }: ProbeStart): void => {
    const now = count(prober, 1);
    if (now === descriptorsMax + 1) violated(`${lifeOf(prober)} had ${now} probes in flight at ${startMs}`);
  };
  const ended = ({ prober }: ProbeStart): void => void count(prober, -1);
  return {
    probeStarted: began,
    probeSeen: ended,
    probeAbandoned: ended,
    lookStarted: began,
    lookSeen: ended,
    lookAbandoned: ended,
  };
};
