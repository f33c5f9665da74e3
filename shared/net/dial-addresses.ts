/**
 * Dials the addresses of a name as Go does (net/dial.go, dialParallel and dialSerial): the family of the first address
 * in sequence, the other family beside it when the first has not connected after 300 ms or has failed.
 */
import { isIPv4 } from 'node:net';
import { shortageOf } from '../core/self/sockets.ts';
import { type Clock, within } from '../lib/clock.ts';
import { connectTimeout } from './dial-failure.ts';
import type { Dialed, DialFailure, DialRequest, SocketPermit } from './net.ts';

export type Outcome = Dialed | DialFailure;

/** `signal`: ends the dial, because the other family has connected. */
export type AddressRequest = Omit<DialRequest, 'host'> & { readonly signal?: AbortSignal };

/** Dials one address, once the permit's socket has closed. `dnsMs`: what the lookup took. */
export type Connect = (
  address: string,
  request: AddressRequest,
  times: { readonly untilMs: number; readonly dnsMs: number },
) => Promise<Outcome>;

export type DialPorts = { readonly clock: Clock; readonly connect: Connect };

/** Both in the order in which they are dialed; `fallbacks` is empty if all addresses are of one family. */
export type Families = { readonly primaries: readonly string[]; readonly fallbacks: readonly string[] };

export function familiesOf(addresses: readonly string[]): Families {
  const first = addresses[0] !== undefined && isIPv4(addresses[0]);
  const isOfFirst = (address: string) => isIPv4(address) === first;
  return {
    primaries: addresses.filter(isOfFirst),
    fallbacks: addresses.filter((address) => !isOfFirst(address)),
  };
}

/** Go's FallbackDelay; none of kubelet's dialers sets another. */
const fallbackDelayMs = 300;

/**
 * Resolves with the first connection, and ends the other family's dial. Otherwise with the failure of the first family,
 * or with the more telling one (`moreTelling`).
 */
export function dialFamilies(
  { primaries, fallbacks }: Families,
  request: DialRequest,
  ports: DialPorts,
  dnsMs: number,
): Promise<Outcome> {
  if (fallbacks.length === 0) return dialSerial(primaries, request, ports, dnsMs);
  const { whenOver: _, ...others } = request;
  const over = new AbortController();
  return new Promise((resolve) => {
    let primary: DialFailure | undefined;
    let fallback: DialFailure | undefined;
    const end = (outcome: Outcome) => {
      cancel();
      over.abort();
      resolve(outcome);
    };
    const race = (addresses: readonly string[], lost: (failure: DialFailure) => void) => {
      const permit = request.permit && racersPermit(request.permit);
      const racer = { ...others, signal: over.signal, permit };
      void dialSerial(addresses, racer, ports, dnsMs).then((outcome) => {
        request.permit?.resumes?.();
        if (outcome.kind === 'failed') return lost(outcome);
        if (over.signal.aborted) outcome.socket.destroy();
        else end(outcome);
      });
    };
    let isFallbackDue = false;
    const startFallback = () => {
      request.permit?.resumes?.();
      if (isFallbackDue) return;
      isFallbackDue = true;
      race(fallbacks, (failure) => {
        fallback = failure;
        if (primary) end(moreTelling(primary, failure));
      });
    };
    const cancel = ports.clock.setTimer(fallbackDelayMs, startFallback);
    race(primaries, (failure) => {
      primary = failure;
      if (fallback) return end(moreTelling(failure, fallback));
      // Without a free socket the other family would not get one either.
      if (lacksSockets(failure)) return end(failure);
      cancel();
      startFallback();
    });
  });
}

/** Further addresses of a family are not dialed (difference 11). */
const addressesMax = 8;

/**
 * In sequence. Resolves with the first failure, or with the more telling one. Without a free socket it stops: what
 * another address answers would pass for the target's answer.
 */
async function dialSerial(
  addresses: readonly string[],
  request: AddressRequest,
  { clock, connect }: DialPorts,
  dnsMs: number,
): Promise<Outcome> {
  let first: DialFailure | undefined;
  for (const [at, address] of addresses.slice(0, addressesMax).entries()) {
    const nowMs = clock.monotonicMs();
    if (request.signal?.aborted || request.deadlineMs - nowMs < timerMs)
      return first ?? { ...connectTimeout(address, request.port), dnsMs };
    const untilMs = addressUntilMs(request, nowMs, addresses.length - at);
    const closing = request.permit?.closing();
    if (closing !== undefined) await within(clock, closing, untilMs - nowMs);
    const outcome = await connect(address, request, { untilMs, dnsMs });
    if (outcome.kind === 'connected' || lacksSockets(outcome)) return outcome;
    first = first ? moreTelling(first, outcome) : outcome;
  }
  return first ?? noAddress;
}

/** A timer may fire so much early. */
const timerMs = 1;

const noAddress: DialFailure = { kind: 'failed', failureClass: 'PROBER', message: 'dial tcp: missing address' };

/** Go's shortest time for an address, if so much is left. */
const addressMsMin = 2_000;

/** Go's partialDeadline: an even share of the time for each address that is left, but at least two seconds. */
function addressUntilMs({ deadlineMs, dividedUntilMs = deadlineMs }: AddressRequest, nowMs: number, left: number) {
  const share = Math.max((dividedUntilMs - nowMs) / left, addressMsMin);
  return Math.min(nowMs + share, deadlineMs);
}

/**
 * The first failure, as in Go, unless it says nothing about the target (no IPv6 on this machine) and the later one
 * does. A socket that this machine refused comes first: nothing is known of what its address would have answered.
 */
function moreTelling(first: DialFailure, later: DialFailure): DialFailure {
  if (lacksSockets(first) || lacksSockets(later)) return lacksSockets(first) ? first : later;
  return first.failureClass === 'PROBER' && later.failureClass !== 'PROBER' ? later : first;
}

const lacksSockets = ({ code }: DialFailure): boolean => shortageOf(code) === 'sockets';

/** The permit of one of two dials that race: each has one socket at a time. */
function racersPermit(permit: SocketPermit): SocketPermit {
  let open: PromiseWithResolvers<void> | undefined;
  return {
    resumes: permit.resumes,
    closing: () => open?.promise,
    refused: (code) => permit.refused(code),
    opened() {
      const closed = permit.opened();
      const socket = Promise.withResolvers<void>();
      open = socket;
      return () => {
        if (open === socket) open = undefined;
        socket.resolve();
        closed();
      };
    },
  };
}
