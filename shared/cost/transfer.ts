/**
 * What probes send and receive over the network, and what AWS bills for it. Pure. What targets pay for their answers
 * is not part of it.
 */
import type { ProbeCost } from '../core/spec/handler-fields.ts';
import { type FleetPart, probesPerSecond } from './fleet.ts';
import { monthSeconds, prices } from './prices.ts';

/** Bytes of IP packets, those of the connection's begin and end among them. */
export type ProbeBytes = { readonly sent: number; readonly received: number };

/**
 * Bytes of one probe over IPv4 with a new connection, as kubelet makes it; `test/cost/probe-bytes.long.ts` counts them
 * between two networks. Names of hosts and paths differ by some bytes. Over TLS a kilobyte in each direction is the key
 * exchange that quantum computers do not break, where the server knows it, and a chain of a public authority is two or
 * three kilobytes longer than the certificate that is counted here.
 */
const bytesOfProbe: Readonly<Record<ProbeCost, ProbeBytes>> = {
  http: { sent: 420, received: 370 },
  https: { sent: 2_150, received: 3_000 },
  tcp: { sent: 220, received: 170 },
  grpc: { sent: 700, received: 520 },
  // A command is sent nowhere.
  exec: { sent: 0, received: 0 },
};

/** Bytes of an HTTPS probe that resumes a session: it sends the session's ticket and receives no certificates. */
const resumedBytes: ProbeBytes = { sent: 2_450, received: 1_950 };

export type TransferOptions = {
  /** HTTPS probes resume sessions. */
  readonly tlsSessionResumption?: boolean | undefined;
};

export const probeTransfer = ({ probe = 'http' }: Pick<FleetPart, 'probe'>, options: TransferOptions): ProbeBytes =>
  probe === 'https' && options.tlsSessionResumption ? resumedBytes : bytesOfProbe[probe];

const gigabyte = 1e9;

/** US dollars for each byte, in each direction. What comes from the internet is free. */
const perByte: Readonly<Record<NonNullable<FleetPart['reach']>, ProbeBytes>> = {
  internet: { sent: prices.internetGb.usd / gigabyte, received: 0 },
  region: { sent: prices.regionGb.usd / gigabyte, received: prices.regionGb.usd / gigabyte },
  vpc: { sent: prices.zoneGb.usd / gigabyte, received: prices.zoneGb.usd / gigabyte },
  nat: {
    sent: (prices.natGb.usd + prices.internetGb.usd) / gigabyte,
    received: prices.natGb.usd / gigabyte,
  },
};

/** Data transfer of one part of a fleet, US dollars a month. */
export function transferUsd(part: FleetPart, options: TransferOptions): number {
  const { sent, received } = probeTransfer(part, options);
  const price = perByte[part.reach ?? 'internet'];
  return probesPerSecond(part) * monthSeconds * (sent * price.sent + received * price.received);
}

/** A NAT gateway with its public address, US dollars a month. */
export const natGatewayUsd = (monthSeconds / 3_600) * (prices.natHour.usd + prices.publicAddressHour.usd);
