/**
 * The network of a simulated world: what really answers at each address, and what each prober saw. The truth is set for
 * each endpoint; a prober sees something else if its process stands still or its own network is lost.
 */

import type { TcpRequest } from '../../shared/core/spec/handler-tcp-socket.ts';
import type { ProbeRequest } from '../../shared/core/spec/handlers.ts';
import type { Attempt } from '../../shared/core/spec/types.ts';
import { endingClock } from '../../shared/lib/clock.ts';
import { guardedDialer } from '../../shared/net/dialer.ts';
import { type DnsAnswer, dnsTimeoutMs } from '../../shared/net/dns.ts';
import type { Dial, Dialed, DialFailure, DialRequest, Resolve, SocketPermit } from '../../shared/net/net.ts';
import { resolver } from '../../shared/net/resolver.ts';
import type { Prober, Probers } from '../../shared/prober/prober.ts';
import { tcpProber } from '../../shared/prober/tcp.ts';
import type { Chance } from './chance.ts';
import { clockOf, type Scheduler } from './clock.ts';
import type { Caller } from './process.ts';
import { type DialAnswer, simSocket } from './sim-socket.ts';

/** `errs`: a prober error, in the middle of the body. `slow`: answers just in time. */
export type Health = 'healthy' | 'failing' | 'slow' | 'hanging' | 'errs';

export type Endpoint = string;

export type Truth = { readonly health: Health; readonly sinceMs: number };

/**
 * One attempt of a probe that begins. `prober`: the run that makes it, or the process that looks for another one.
 * `isLook`: no worker makes it, so it counts for none; it takes no place in a socket budget.
 */
export type ProbeStart = {
  readonly endpoint: Endpoint;
  readonly prober: string;
  readonly isLook: boolean;
  readonly startMs: number;
};

/** One attempt of one probe, as the network saw it. */
export type SeenProbe = ProbeStart & {
  readonly endMs: number;
  readonly outcome: 'success' | 'failure' | 'error';
  /** The truth at the time; a failure of a healthy endpoint is an internal error. */
  readonly truth: Health;
  readonly isGenuine: boolean;
};

export type Network = {
  probersOf(caller: Caller, prober: string): { readonly probers: Probers; readonly abandon: () => void };
  /** The same with the product's dialer and resolver, over simulated sockets and simulated DNS. */
  diallingOf(caller: Caller, prober: string): Dialling;
  dialOf(caller: Caller): Dial;
  resolveOf(caller: Caller): Resolve;
  set(endpoint: Endpoint, health: Health): void;
  healthOf(endpoint: Endpoint): Health;
  truths(): ReadonlyMap<Endpoint, Truth>;
  /** The endpoint does not exist any more. */
  forget(endpoint: Endpoint): void;
  /** A process cut off from everything it probes. */
  cut(processName: string, ms: number): void;
  /** A process cut off from everything it probes, but not from its canaries. */
  lie(processName: string, ms: number): void;
  /** No process reaches the internet: a NAT gateway is gone. */
  cutRoute(ms: number): void;
  onStarted(listener: (probe: ProbeStart) => void): void;
  onSeen(listener: (probe: SeenProbe) => void): void;
  /** Its run ended first: the answer is discarded. */
  onAbandoned(listener: (probe: ProbeStart) => void): void;
};

export type Dialling = {
  readonly dial: Dial;
  readonly resolve: Resolve;
  readonly probers: Probers;
  readonly abandon: () => void;
};

/** A canary, somewhere on the way to the targets. */
export const canary = { host: '10.255.255.1', port: 53 };
/** One on the route to the internet. */
export const publicCanary = { host: '12.255.255.1', port: 53 };

/** An answer may be that much later than its deadline. */
const slackMs = 20;

/** In which a prober that sees a failure has asked its canaries. */
const canaryMs = 200;

/** `open`: ends the attempts under way. `dialled`: TCP over the product's dialer; absent: simulated as a whole. */
type Asking = {
  readonly caller: Caller;
  readonly prober: string;
  readonly open: Set<() => void>;
  readonly isAbandoned: () => boolean;
  readonly dialled?: Dialled;
};

type Dialled = {
  readonly probe: Prober<TcpRequest>;
  /** What the sockets to these endpoints come to. */
  readonly meant: Map<Endpoint, Answer>;
  isAbandoned: boolean;
};

/** `cut`: its prober had no network when it began. `lied`: it had none to its targets. */
type About = {
  readonly endpoint: Endpoint;
  readonly startMs: number;
  readonly cut: boolean;
  readonly lied: boolean;
  readonly meant: Answer;
};

type Got = Pick<SeenProbe, 'outcome' | 'isGenuine'> & { readonly attempt: Attempt };

export function network(scheduler: Scheduler, chance: Chance): Network {
  const truth = new Map<Endpoint, Truth>();
  const cuts = new Map<string, number>();
  const lies = new Map<string, number>();
  let routeCutUntilMs = 0;
  const started: ((probe: ProbeStart) => void)[] = [];
  const seen: ((probe: SeenProbe) => void)[] = [];
  const abandonedBy: ((probe: ProbeStart) => void)[] = [];

  const isIn = (windows: ReadonlyMap<string, number>, { life }: Caller, forMs = 0): boolean =>
    (windows.get(life.name.slice(0, life.name.lastIndexOf('.'))) ?? 0) > scheduler.nowMs() + forMs;
  const isCut = (caller: Caller, forMs = 0): boolean => isIn(cuts, caller, forMs);
  const isRouteCut = (host: string, forMs = 0): boolean =>
    isPublic(host) && routeCutUntilMs > scheduler.nowMs() + forMs;

  const attempt = async (asking: Asking, request: ProbeRequest, permit?: SocketPermit): Promise<Attempt> => {
    const { caller, prober, dialled } = asking;
    const endpoint = endpointOf(request);
    const startMs = scheduler.nowMs();
    const health = truth.get(endpoint)?.health ?? 'failing';
    scheduler.trace(`${startMs} ${prober} probes ${endpoint}: ${health}`);
    const start: ProbeStart = { endpoint, prober, isLook: permit === undefined, startMs };
    for (const listener of started) listener(start);
    const cut = isCut(caller) || isRouteCut(endpoint);
    const lied = isIn(lies, caller);
    const meant = cut || lied ? cutAnswer(chance, request.timeoutMs) : answerOf(chance, health, request.timeoutMs);
    const about: About = { endpoint, startMs, cut, lied, meant };
    // No dialer errs in the middle of a body.
    const got =
      dialled && request.kind === 'tcp' && meant.outcome !== 'error'
        ? await askDialled({ caller, dialled }, request, { ...about, permit })
        : await ask(asking, request, about);
    const endMs = scheduler.nowMs();
    if (!got) {
      for (const listener of abandonedBy) listener(start);
      return abandoned(endMs - startMs);
    }
    const { outcome, isGenuine } = got;
    for (const listener of seen) listener({ ...start, endMs, outcome, truth: health, isGenuine });
    return got.attempt;
  };

  /** undefined: it was abandoned. */
  const ask = async (
    { caller, open, isAbandoned }: Asking,
    request: ProbeRequest,
    about: About,
  ): Promise<Got | undefined> => {
    const { startMs, cut, lied, meant } = about;
    const isAnswered = await caller.call<boolean>(`probe ${request.kind}`, (reply) => {
      let cancel = (): void => undefined;
      const abandon = () => {
        cancel();
        reply(0, () => false);
      };
      // Abandoned while the process stood still, before the request left.
      if (isAbandoned()) return void abandon();
      open.add(abandon);
      cancel = reply(meant.ms, () => open.delete(abandon));
    });
    if (!isAnswered) return undefined;
    const tookMs = scheduler.nowMs() - startMs;
    // The process stood still: its own deadline is what it looks at first.
    const stalled = tookMs > request.timeoutMs + slackMs;
    const outcome = stalled ? 'failure' : meant.outcome;
    // Of a network that comes back within a moment no canary can tell that it had been away.
    // Where computing takes time most answers are read late: a target that failed has failed all the same.
    const isOwn = caller.life.loop !== undefined && meant.outcome === 'failure';
    const isGenuine =
      (!stalled || isOwn) &&
      !lied &&
      !(cut && (stalled || isCut(caller, canaryMs) || isRouteCut(about.endpoint, canaryMs)));
    return { attempt: attemptOf(outcome, stalled || meant.ms >= request.timeoutMs, tookMs), outcome, isGenuine };
  };

  const askDialled = async (
    { caller, dialled }: Required<Pick<Asking, 'caller' | 'dialled'>>,
    request: TcpRequest,
    { endpoint, cut, lied, meant, permit }: About & { readonly permit: SocketPermit | undefined },
  ): Promise<Got | undefined> => {
    dialled.meant.set(endpoint, meant);
    const answer = await dialled.probe(request, permit);
    dialled.meant.delete(endpoint);
    if (dialled.isAbandoned) return undefined;
    const outcome = answer.outcome === 'success' || answer.outcome === 'failure' ? answer.outcome : 'error';
    const isMeant = outcome !== 'failure' || meant.outcome === 'failure';
    return {
      attempt: answer,
      outcome,
      isGenuine: isMeant && !lied && !(cut && (isCut(caller, canaryMs) || isRouteCut(endpoint, canaryMs))),
    };
  };

  const diallingOf = (caller: Caller, prober: string): Dialling => {
    const { life } = caller;
    const clock = endingClock(clockOf(scheduler, life));
    const meant = new Map<Endpoint, Answer>();
    const socketAnswer = (address: string, port: number): DialAnswer => {
      if (address === canary.host || address === publicCanary.host) {
        if (isCut(caller) || isRouteCut(address)) return silent;
        return { kind: 'failed', ms: chance.between(1, 20), code: refused };
      }
      const known = meant.get(`${address}:${port}`) ?? meant.get(`${nameOfAddress(address)}:${port}`);
      const { outcome, ms } = known ?? { outcome: 'failure', ms: 1 };
      if (outcome === 'success') return { kind: 'accepted', ms };
      return ms > refusedMsMax ? silent : { kind: 'failed', ms, code: refused };
    };
    const resolve = resolver({
      clock,
      hostsPath: '/dev/null',
      ask: (name) =>
        caller.call('resolve', (reply) =>
          isCut(caller) ? reply(dnsTimeoutMs, () => noServer) : reply(chance.between(1, 20), () => dnsAnswerOf(name)),
        ),
    });
    const newSocket = () => simSocket({ scheduler, caller, answer: socketAnswer });
    const dial = guardedDialer({ resolve, policy: () => true, clock, newSocket });
    const open = new Set<() => void>();
    const dialled: Dialled = { probe: tcpProber({ dial, clock }), meant, isAbandoned: false };
    const one = (request: ProbeRequest, permit?: SocketPermit) =>
      attempt({ caller, prober, open, isAbandoned: () => dialled.isAbandoned, dialled }, request, permit);
    return {
      dial,
      resolve,
      probers: { http: one, tcp: one, grpc: one, exec: one },
      abandon() {
        dialled.isAbandoned = true;
        clock.end();
        for (const end of open) end();
        open.clear();
      },
    };
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
    diallingOf,
    probersOf: (caller, prober) => {
      const open = new Set<() => void>();
      let isOver = false;
      const one = (request: ProbeRequest, permit?: SocketPermit) =>
        attempt({ caller, prober, open, isAbandoned: () => isOver }, request, permit);
      return {
        probers: { http: one, tcp: one, grpc: one, exec: one },
        abandon() {
          isOver = true;
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
    cutRoute(ms) {
      routeCutUntilMs = scheduler.nowMs() + ms;
    },
    lie: (processName, ms) => void lies.set(processName, scheduler.nowMs() + ms),
    onStarted: (listener) => void started.push(listener),
    onSeen: (listener) => void seen.push(listener),
    onAbandoned: (listener) => void abandonedBy.push(listener),
  };
}

/** Where the sandboxes' targets are. */
const isPublic = (endpoint: string): boolean => endpoint.startsWith('12.');

const silent: DialAnswer = { kind: 'silent', ms: 0 };
const refused = 'ECONNREFUSED';
/** Failures later than this become time-outs. */
const refusedMsMax = 30;
const noServer: DnsAnswer = { resolution: { kind: 'unavailable', message: 'server misbehaving' }, ttlMs: 0 };
const ttlMs = 20_000;

/** `h-10-1-2-3.test` is the name of 10.1.2.3. */
export const nameOfAddress = (address: string): string => `h-${address.replaceAll('.', '-')}.test`;

function dnsAnswerOf(name: string): DnsAnswer {
  const address = /^h-(\d+)-(\d+)-(\d+)-(\d+)\.test$/.exec(name)?.slice(1).join('.');
  if (address === undefined) return { resolution: { kind: 'notFound', message: 'no such host' }, ttlMs };
  return { resolution: { kind: 'resolved', addresses: [address] }, ttlMs };
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
