/** Parses a canary from a deployment's configuration or the command line. */
import { isIPv6 } from 'node:net';
import { portMax } from '../shared/core/spec/limits.ts';
import type { Canary } from '../shared/holder/run.ts';

/** Parses `host:port` or `[address]:port`; returns undefined for anything else. */
export function canaryOf(value: string): Canary | undefined {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^\s,:[\]]+)):(\d{1,5})$/.exec(value) ?? [];
  const host = bracketed ?? plain;
  const number = Number(port);
  const isHost = bracketed === undefined || isIPv6(bracketed);
  if (host === undefined || !isHost || number < 1 || number > portMax) return undefined;
  return { host, port: number };
}
