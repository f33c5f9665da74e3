/**
 * The only way to open a socket: resolve the name, check every address against the dial policy, dial a checked address,
 * then check the connected peer.
 */
import { isIP, type Socket } from 'node:net';
import { portMax } from '../core/spec/limits.ts';
import { afterArrivals, type Clock, within } from '../lib/clock.ts';
import { attribute, resumesOf } from './attributed-socket.ts';
import { type AddressRequest, type Connect, type DialPorts, dialFamilies, type Outcome } from './dial-addresses.ts';
import { connectFailure, connectTimeout, deniedDial, dialFailure } from './dial-failure.ts';
import { type DialOrder, dialOrder } from './dial-order.ts';
import { localPorts } from './local-ports.ts';
import type { Dial, DialFailure, DialPolicy, DialRequest, Resolve } from './net.ts';
import { peerSocket } from './reading.ts';
import { type SourceOf, udpSource } from './source-address.ts';

export type DialerOptions = {
  readonly resolve: Resolve;
  readonly policy: DialPolicy;
  readonly clock: Clock;
  /** Defaults to the system's TCP sockets. */
  readonly newSocket?: () => Socket;
  /** Defaults to what the system's routes say. */
  readonly sourceOf?: SourceOf;
  /** Called with the system error code of each dial that failed. */
  readonly onFailed?: (code: string) => void;
};

/**
 * Returns a dialer that never throws and never dials an address that `policy` denies. It does not count sockets itself;
 * it reports each one to the request's permit.
 */
export function guardedDialer(options: DialerOptions): Dial {
  const { clock, newSocket = peerSocket, sourceOf = udpSource, onFailed = ignore } = options;
  const connect: Connect = (address, request, { untilMs, dnsMs }) => {
    const { permit, port } = request;
    if (permit?.closing()) return Promise.resolve({ ...notClosed, dnsMs });
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
        sourceOf,
        onFailed,
      },
    );
  };
  const dialing = { options, connect, clock, order: dialOrder({ ...options, sourceOf }) };
  return (request) => {
    if (!(request.port >= 0 && request.port <= portMax)) return Promise.resolve(invalidPort(request.port));
    return isIP(request.host) === 0 ? dialName(request, dialing) : dialLiteral(request, dialing);
  };
}

const dialLiteral = (request: DialRequest, dialing: Dialing): Promise<Outcome> =>
  dialAtOnce(request.host, request, dialing, 0) ?? dialResolved([request.host], request, dialing, 0);

/** Most probes dial one address, which costs nothing but the connection. Undefined if it has to wait or is denied. */
function dialAtOnce(
  address: string,
  request: DialRequest,
  dialing: Dialing,
  dnsMs: number,
): Promise<Outcome> | undefined {
  const { deadlineMs, permit } = request;
  const isAtOnce = permit?.closing() === undefined && policyFor(request, dialing.options)(address);
  return isAtOnce ? dialing.connect(address, request, { untilMs: deadlineMs, dnsMs }) : undefined;
}

type Dialing = DialPorts & { readonly options: DialerOptions; readonly order: DialOrder };

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
  const { addresses } = resolution;
  const only = addresses.length === 1 ? addresses[0] : undefined;
  const dialed = only === undefined ? undefined : dialAtOnce(only, request, dialing, dnsMs);
  return dialed ?? dialResolved(addresses, request, dialing, dnsMs);
}

async function dialResolved(
  resolved: readonly string[],
  request: DialRequest,
  dialing: Dialing,
  dnsMs: number,
): Promise<Outcome> {
  const { clock } = dialing;
  const { deadlineMs, permit } = request;
  const closing = permit?.closing();
  if (closing !== undefined) await within(clock, closing, deadlineMs - clock.monotonicMs());
  const ordered = dialing.order(resolved, policyFor(request, dialing.options));
  const families = ordered instanceof Promise ? await ordered : ordered;
  permit?.resumes?.();
  if (families.primaries.length === 0) return { ...deniedDial(request.host, request.port), dnsMs };
  return permit?.closing() === undefined ? dialFamilies(families, request, dialing, dnsMs) : { ...notClosed, dnsMs };
}

const notClosed = dialFailure('PROBER', 'the previous socket of the probe has not closed');

const policyFor = ({ bypassesPolicy }: AddressRequest, { policy }: DialerOptions): DialPolicy =>
  bypassesPolicy ? () => true : policy;

/** Go's error text; kubelet's TCP prober shows it. */
const invalidPort = (port: number): DialFailure => dialFailure('CONNECT_UNREACHABLE', `address ${port}: invalid port`);

function unresolved(host: string, resolution: { readonly kind: 'notFound' | 'unavailable'; readonly message: string }) {
  const failureClass = resolution.kind === 'notFound' ? 'DNS' : 'PROBER';
  return dialFailure(failureClass, `lookup ${host}: ${resolution.message}`);
}

const ignore = () => undefined;

type Endpoint = {
  readonly address: string;
  readonly port: number;
  readonly untilMs: number;
  readonly dnsMs: number;
};

type Guard = Required<Pick<DialerOptions, 'clock' | 'policy' | 'sourceOf' | 'onFailed'>> & {
  readonly request: AddressRequest;
};

function connectGuarded(
  socket: Socket,
  endpoint: Endpoint,
  { clock, policy, request, sourceOf, onFailed }: Guard,
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
      const failure = connectFailure(address, port, code);
      if (code !== 'ENETUNREACH') return settle(failure);
      void hasRoute(address, sourceOf).then((has) => {
        resumes();
        settle(has ? failure : { ...failure, failureClass: 'PROBER' });
      });
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
    request.signal?.addEventListener('abort', () => settle(connectTimeout(address, port)), { once: true });
    socket.on('connect', onConnect);
    socket.on('error', onError);
    socket.connect({ host: address, port, autoSelectFamily: false });
    // After the connect, because the deadline may be over already.
    if (isLast) request.whenOver?.(late);
  });
}

/**
 * `ENETUNREACH` comes from a router, or from this machine if it has no route, which says nothing about the target: most
 * often it has no IPv6.
 */
const hasRoute = (address: string, sourceOf: SourceOf): Promise<boolean> =>
  sourceOf(address).then(
    (source) => source !== undefined,
    () => false,
  );

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
