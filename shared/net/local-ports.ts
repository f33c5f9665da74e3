/** The ports that the kernel gives to connections, and so may give to one that dials the same port. */
import { readFileSync } from 'node:fs';
import { portMax } from '../core/spec/limits.ts';

export type PortRange = { readonly from: number; readonly to: number };

const rangeFile = '/proc/sys/net/ipv4/ip_local_port_range';

/** For IPv6 as well, as of now. All ports where the kernel does not say. */
export function localPorts(read: () => string = () => readFileSync(rangeFile, 'utf8')): PortRange {
  try {
    const [, from, to] = /^(\d+)\s+(\d+)\s*$/.exec(read()) ?? [];
    return { from: Number(from ?? 1), to: Number(to ?? portMax) };
  } catch {
    return { from: 1, to: portMax };
  }
}
