/** The hosts file. Its entries take precedence over DNS, as elsewhere on the system. */
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';
import { parsedFile } from '../lib/parsed-file.ts';
import { unmapped } from './address.ts';

export type HostsFile = (name: string) => readonly string[] | undefined;

type Names = ReadonlyMap<string, readonly string[]>;

const fileBytesMax = 1024 * 1024;
const entriesMax = 65_536;
const nothing: Names = new Map();

/** Looks up `name` (lower case) in the file at `path`. A missing or oversized file counts as empty. */
export function hostsFile(path: string, clock: Clock): HostsFile {
  const names = parsedFile({ path, clock, bytesMax: fileBytesMax, parse: parsedHosts, missing: nothing });
  return (name) => names().get(hostsKey(name));
}

/** Returns the names of a hosts file in lower case, each with its addresses in file order. */
export function parsedHosts(text: string): Names {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [written = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(written) === 0) continue;
    const address = unmapped(written);
    for (const alias of aliases) addName(names, hostsKey(alias.toLowerCase()), address);
  }
  return names;
}

/**
 * Go's absDomainName: a trailing dot is ignored unless it is the only dot. `localhost.` is resolved by DNS even if the
 * file contains `localhost`.
 */
const hostsKey = (name: string): string => (name.includes('.') && !name.endsWith('.') ? `${name}.` : name);

function addName(names: Map<string, string[]>, name: string, address: string): void {
  const addresses = names.get(name);
  if (addresses !== undefined) addresses.push(address);
  else if (names.size < entriesMax) names.set(name, [address]);
}
