/**
 * The only way to open a socket: resolve the name, check every address against the dial policy, dial a checked address,
 * then check the connected peer.
 */
import { isIP, type Socket } from 'node:net';
import { portMax } from '../core/limits.ts';
import { shortageOf } from '../core/shortage.ts';
import { afterArrivals, type Clock, within } from '../lib/clock.ts';
import { attribute, resumesOf } from './attributed-socket.ts';
import { connectFailure, connectTimeout, deniedDial, dialFailure } from './dial-failure.ts';
import { localPorts } from './local-ports.ts';
import type { Dial, Dialed, DialFailure, DialPolicy, DialRequest, Resolve } from './net.ts';
import { peerSocket } from './reading.ts';

export type DialerOptions = {
  readonly resolve: Resolve;
  readonly policy: DialPolicy;
  readonly clock: Clock;
  /** Defaults to the system's TCP sockets. */
  readonly newSocket?: () => Socket;
  /** Called with the system error code of each dial that failed. */
  readonly onFailed?: (code: string) => void;
};

/** Further addresses of a name are not tried. */
const addressesMax = 8;

type Outcome = Dialed | DialFailure;

/**
 * Returns a dialer that never throws and never dials an address that `policy` denies. It does not count sockets itself;
 * it reports each one to the request's permit.
 */
export function guardedDialer(options: DialerOptions): Dial {
  const { clock, newSocket = peerSocket, onFailed = ignore } = options;
  const connect: Connect = (address, request, { untilMs, dnsMs }) => {
    const { permit, port } = request;
    if (permit?.closing())
      return Promise.resolve({ ...dialFailure('PROBER', 'the previous socket of the probe has not closed'), dnsMs });
    const socket = newSocket();
    attribute(socket, permit?.resumes);
    // This listener stays for the socket's lifetime: an error that arrives after the dial has settled must not crash
    // the process.
    socket.on('error', ignore);
    socket.once('close', permit?.opened() ?? ignore);
    return connectGuarded(
      socket,
      { address, port, untilMs, dnsMs },
      {
        clock,
        policy: policyFor(request, options),
        request,
        onFailed,
      },
    );
  };
  const dialing = { options, connect };
  return (request) => {
    if (!(request.port >= 0 && request.port <= portMax)) return Promise.resolve(invalidPort(request.port));
    return isIP(request.host) === 0 ? dialName(request, dialing) : dialLiteral(request, dialing);
  };
}

/** Most probes dial one literal, which costs nothing but the connection. */
function dialLiteral(request: DialRequest, dialing: Dialing): Promise<Outcome> {
  const { host, deadlineMs, permit } = request;
  const isPlain = permit?.closing() === undefined && policyFor(request, dialing.options)(host);
  if (!isPlain) return dialFirst([host], request, dialing, 0);
  return dialing.connect(host, request, { untilMs: deadlineMs, dnsMs: 0 });
}

type Dialing = { readonly options: DialerOptions; readonly connect: Connect };

async function dialName(request: DialRequest, dialing: Dialing): Promise<Outcome> {
  const { clock, resolve, onFailed = ignore } = dialing.options;
  const startMs = clock.monotonicMs();
  const resolution = await resolve(request.host, request.deadlineMs);
  request.permit?.resumes?.();
  const dnsMs = clock.monotonicMs() - startMs;
  if (resolution.kind !== 'resolved') {
    if (resolution.kind === 'unavailable' && resolution.code !== undefined) {
      onFailed(resolution.code);
      request.permit?.refused(resolution.code);
    }
    return { ...unresolved(request.host, resolution), dnsMs };
  }
  return dialFirst(resolution.addresses, request, dialing, dnsMs);
}

const policyFor = ({ bypassesPolicy }: DialRequest, { policy }: DialerOptions): DialPolicy =>
  bypassesPolicy ? () => true : policy;

/** Go's error text; kubelet's TCP prober shows it. */
const invalidPort = (port: number): DialFailure => dialFailure('CONNECT_UNREACHABLE', `address ${port}: invalid port`);

function unresolved(host: string, resolution: { readonly kind: 'notFound' | 'unavailable'; readonly message: string }) {
  const failureClass = resolution.kind === 'notFound' ? 'DNS' : 'PROBER';
  return dialFailure(failureClass, `lookup ${host}: ${resolution.message}`);
}

/** Once the permit's socket has closed. `dnsMs`: what the lookup took. */
type Connect = (
  address: string,
  request: DialRequest,
  times: { readonly untilMs: number; readonly dnsMs: number },
) => Promise<Outcome>;

/**
 * Tries the addresses in sequence. Like Go, it divides the remaining time evenly among the remaining addresses. It
 * reports the first failure, unless that is a prober error (such as no IPv6 on this machine) and another address failed
 * on its own account. Without a free socket it stops: what another address answers would pass for the target's answer.
 */
async function dialFirst(
  resolved: readonly string[],
  request: DialRequest,
  { options, connect }: Dialing,
  dnsMs: number,
): Promise<Outcome> {
  const { clock } = options;
  let first: DialFailure | undefined;
  const addresses = resolved.filter(policyFor(request, options)).slice(0, addressesMax);
  for (let at = 0; at < addresses.length; at += 1) {
    const nowMs = clock.monotonicMs();
    const isLast = at === addresses.length - 1;
    const untilMs = isLast ? request.deadlineMs : nowMs + (request.deadlineMs - nowMs) / (addresses.length - at);
    const closing = request.permit?.closing();
    if (closing !== undefined) await within(clock, closing, untilMs - nowMs);
    const outcome = await connect(addresses[at] ?? '', request, { untilMs, dnsMs });
    if (outcome.kind === 'connected' || shortageOf(outcome.code) === 'sockets') return outcome;
    if (first === undefined || first.failureClass === 'PROBER') first = outcome;
  }
  return first ?? { ...deniedDial(request.host, request.port), dnsMs };
}

const ignore = () => undefined;

type Endpoint = {
  readonly address: string;
  readonly port: number;
  readonly untilMs: number;
  readonly dnsMs: number;
};

type Guard = Required<Pick<DialerOptions, 'clock' | 'policy' | 'onFailed'>> & { readonly request: DialRequest };

function connectGuarded(
  socket: Socket,
  endpoint: Endpoint,
  { clock, policy, request, onFailed }: Guard,
): Promise<Outcome> {
  const { address, port, untilMs, dnsMs } = endpoint;
  const startMs = clock.monotonicMs();
  const resumes = resumesOf(socket);
  return new Promise((resolve) => {
    let isOver = false;
    const settle = (failure?: DialFailure) => {
      if (isOver) return;
      isOver = true;
      cancel?.();
      socket.removeListener('connect', onConnect);
      socket.removeListener('error', onError);
      if (failure === undefined)
        return resolve({ kind: 'connected', socket, dnsMs, connectMs: clock.monotonicMs() - startMs });
      socket.destroy();
      resolve({ ...failure, dnsMs });
    };
    const onConnect = () => {
      resumes();
      settle(peerFailure(socket, endpoint, policy));
    };
    const onError = (error: NodeJS.ErrnoException) => {
      resumes();
      const { code = 'EUNKNOWN' } = error;
      onFailed(code);
      request.permit?.refused(code);
      settle(connectFailure(address, port, code));
    };
    const isLast = request.whenOver !== undefined && untilMs === request.deadlineMs;
    /** The caller's deadline has waited for arrivals already. */
    let hasWaited = isLast;
    const late = () => {
      if (hasWaited) return settle(connectTimeout(address, port));
      hasWaited = true;
      afterArrivals(clock, late);
    };
    const cancel = isLast ? undefined : clock.setTimer(Math.max(0, untilMs - startMs), late);
    socket.on('connect', onConnect);
    socket.on('error', onError);
    socket.connect({ host: address, port, autoSelectFamily: false });
    // After the connect, because the deadline may be over already.
    if (isLast) request.whenOver?.(late);
  });
}

const { from: localFrom, to: localTo } = localPorts();

/**
 * With no listener, the kernel may choose the dialed port as the source port, and TCP then connects the socket to
 * itself. Only a port that it gives to connections is worth the question.
 */
const isItself = (socket: Socket, port: number, peer: string): boolean =>
  port >= localFrom && port <= localTo && socket.localPort === port && socket.localAddress === peer;

/** Checks the peer address that the kernel reports, whatever address was dialed. */
function peerFailure(socket: Socket, { address, port }: Endpoint, policy: DialPolicy): DialFailure | undefined {
  const peer = socket.remoteAddress;
  if (peer === undefined) return connectFailure(address, port, 'ECONNRESET');
  if (!policy(peer)) return deniedDial(peer, port);
  return isItself(socket, port, peer) ? connectFailure(address, port, 'ECONNREFUSED') : undefined;
}
