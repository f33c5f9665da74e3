/**
 * The network of a simulated world: what really answers at each address, when, and what each prober saw of it. The truth is written
 * beforehand, endpoint by endpoint; a prober may still see something else, when its own process stands still or its own network is gone.
 */
import type { Attempt } from '../../shared/core/types.ts';
import type { Dial, Dialed, DialFailure, DialRequest, Resolve } from '../../shared/net/net.ts';
import type { ProbeRequest, Probers } from '../../shared/prober/prober.ts';
import type { Chance } from './chance.ts';
import { clockOf, type Scheduler } from './clock.ts';
import type { Caller } from './process.ts';

/** `errs`: a prober error, in the middle of the body. `slow`: answers just in time. */
export type Health = 'healthy' | 'failing' | 'slow' | 'hanging' | 'errs';

export type Endpoint = string;

export type Truth = { readonly health: Health; readonly sinceMs: number };

/** One attempt of one probe, as the network saw it. */
export type SeenProbe = {
  readonly endpoint: Endpoint;
  /** Which run asked. */
  readonly prober: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly outcome: 'success' | 'failure' | 'error';
  /** The truth at the time; a failure of something healthy is the prober's own. */
  readonly truth: Health;
  readonly isGenuine: boolean;
};

export type Network = {
  probersOf(caller: Caller, prober: string): { readonly probers: Probers; readonly abandon: () => void };
  dialOf(caller: Caller): Dial;
  resolveOf(caller: Caller): Resolve;
  set(endpoint: Endpoint, health: Health): void;
  healthOf(endpoint: Endpoint): Health;
  truths(): ReadonlyMap<Endpoint, Truth>;
  /** Nobody lives there any more. */
  forget(endpoint: Endpoint): void;
  /** A process cut off from everything it probes. */
  cut(processName: string, ms: number): void;
  onStarted(listener: (probe: Pick<SeenProbe, 'endpoint' | 'prober' | 'startMs'>) => void): void;
  onSeen(listener: (probe: SeenProbe) => void): void;
  /** Its run ended first: nobody looks at the answer. */
  onAbandoned(listener: (probe: Pick<SeenProbe, 'endpoint' | 'prober'>) => void): void;
};

/** A canary, somewhere on the way to the targets. */
export const canary = { host: '10.255.255.1', port: 53 };

/** An answer may be that much later than its deadline. */
const slackMs = 20;

/** In which a prober that sees a failure has asked its canaries. */
const canaryMs = 200;

/** `open`: what ends the attempts that are under way. */
type Asking = { readonly caller: Caller; readonly prober: string; readonly open: Set<() => void> };

export function network(scheduler: Scheduler, chance: Chance): Network {
  const truth = new Map<Endpoint, Truth>();
  const cuts = new Map<string, number>();
  const started: ((probe: Pick<SeenProbe, 'endpoint' | 'prober' | 'startMs'>) => void)[] = [];
  const seen: ((probe: SeenProbe) => void)[] = [];
  const abandonedBy: ((probe: Pick<SeenProbe, 'endpoint' | 'prober'>) => void)[] = [];

  const isCut = ({ life }: Caller, forMs = 0): boolean =>
    (cuts.get(life.name.slice(0, life.name.lastIndexOf('.'))) ?? 0) > scheduler.nowMs() + forMs;

  const attempt = async (asking: Asking, request: ProbeRequest): Promise<Attempt> => {
    const { caller, prober, open } = asking;
    const endpoint = endpointOf(request);
    const startMs = scheduler.nowMs();
    const health = truth.get(endpoint)?.health ?? 'failing';
    scheduler.trace(`${startMs} ${prober} probes ${endpoint}: ${health}`);
    for (const listener of started) listener({ endpoint, prober, startMs });
    const cut = isCut(caller);
    const meant = cut ? cutAnswer(chance, request.timeoutMs) : answerOf(chance, health, request.timeoutMs);
    const isAnswered = await caller.call<boolean>(`probe ${request.kind}`, (reply) => {
      let cancel = (): void => undefined;
      const abandon = () => {
        cancel();
        reply(0, () => false);
      };
      open.add(abandon);
      cancel = reply(meant.ms, () => open.delete(abandon));
    });
    const endMs = scheduler.nowMs();
    if (!isAnswered) {
      for (const listener of abandonedBy) listener({ endpoint, prober });
      return abandoned(endMs - startMs);
    }
    // The process stood still: its own deadline is what it looks at first.
    const stalled = endMs - startMs > request.timeoutMs + slackMs;
    const outcome = stalled ? 'failure' : meant.outcome;
    // Of a network that comes back within a moment no canary can tell that it had been away.
    // Where computing takes time most answers are read late: a target that failed has failed all the same.
    const isOwn = caller.life.loop !== undefined && meant.outcome === 'failure';
    const isGenuine = (!stalled || isOwn) && !(cut && (stalled || isCut(caller, canaryMs)));
    for (const listener of seen) listener({ endpoint, prober, startMs, endMs, outcome, truth: health, isGenuine });
    return attemptOf(outcome, stalled || meant.ms >= request.timeoutMs, endMs - startMs);
  };

  const dial = async (caller: Caller, { deadlineMs }: DialRequest): Promise<Dialed | DialFailure> => {
    const clock = clockOf(scheduler, caller.life);
    const restMs = Math.max(0, deadlineMs - clock.monotonicMs());
    const cut = isCut(caller);
    await caller.call('dial', (reply) => reply(cut ? restMs : chance.between(1, 20), () => undefined));
    const late = cut || clock.monotonicMs() > deadlineMs + slackMs;
    // A refusal comes from the other end: it is as good an answer as any.
    if (!late) return { kind: 'failed', failureClass: 'CONNECT_REFUSED', code: 'ECONNREFUSED', message: 'refused' };
    return { kind: 'failed', failureClass: 'CONNECT_TIMEOUT', message: 'timed out' };
  };

  return {
    probersOf: (caller, prober) => {
      const open = new Set<() => void>();
      const one = (request: ProbeRequest) => attempt({ caller, prober, open }, request);
      return {
        probers: { http: one, tcp: one, grpc: one, exec: one },
        abandon() {
          for (const end of open) end();
          open.clear();
        },
      };
    },
    dialOf: (caller) => (request) => dial(caller, request),
    resolveOf: (caller) => (host) =>
      caller.call('resolve', (reply) => reply(3, () => ({ kind: 'resolved', addresses: [host] }))),
    set: (endpoint, health) => void truth.set(endpoint, { health, sinceMs: scheduler.nowMs() }),
    healthOf: (endpoint) => truth.get(endpoint)?.health ?? 'failing',
    truths: () => truth,
    forget: (endpoint) => void truth.delete(endpoint),
    cut: (processName, ms) => void cuts.set(processName, scheduler.nowMs() + ms),
    onStarted: (listener) => void started.push(listener),
    onSeen: (listener) => void seen.push(listener),
    onAbandoned: (listener) => void abandonedBy.push(listener),
  };
}

type Answer = { readonly outcome: SeenProbe['outcome']; readonly ms: number };

function answerOf(chance: Chance, health: Health, timeoutMs: number): Answer {
  switch (health) {
    case 'healthy':
      return { outcome: 'success', ms: chance.between(3, 40) };
    case 'slow':
      return { outcome: 'success', ms: Math.floor(timeoutMs * 0.9) };
    case 'failing':
      return { outcome: 'failure', ms: chance.between(1, 30) };
    case 'hanging':
      return { outcome: 'failure', ms: timeoutMs };
    case 'errs':
      return { outcome: 'error', ms: chance.between(3, 40) };
  }
}

/** No route, or no answer at all. */
const cutAnswer = (chance: Chance, timeoutMs: number): Answer => ({
  outcome: 'failure',
  ms: chance.happens(0.5) ? chance.between(1, 5) : timeoutMs,
});

function attemptOf(outcome: SeenProbe['outcome'], timedOut: boolean, totalMs: number): Attempt {
  const timings = { totalMs };
  switch (outcome) {
    case 'success':
      return { outcome: 'success', output: 'ok', timings };
    case 'failure':
      return { outcome: 'failure', output: 'refused', failureClass: timedOut ? 'TIMEOUT' : 'CONNECT_REFUSED', timings };
    case 'error':
      return { outcome: 'unknown', output: '', error: 'the body broke off', failureClass: 'BODY', timings };
  }
}

const abandoned = (totalMs: number): Attempt => ({
  outcome: 'unknown',
  output: '',
  error: 'abandoned',
  failureClass: 'PROBER',
  timings: { totalMs },
});

function endpointOf(request: ProbeRequest): Endpoint {
  switch (request.kind) {
    case 'http':
      return new URL(request.url).host;
    case 'tcp':
    case 'grpc':
      return `${request.host}:${request.port}`;
    case 'exec':
      return `exec:${request.target.name}/${request.container}`;
  }
}
