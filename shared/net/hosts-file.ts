/** The hosts file: what a machine's owner says about names goes before DNS, as everywhere else on that machine. */
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import type { Clock } from '../lib/clock.ts';

export type HostsFile = (name: string) => readonly string[] | undefined;

type Names = ReadonlyMap<string, readonly string[]>;

/** How long an answer is believed before the file is looked at again, as Go does. */
const ageMaxMs = 5000;
const fileBytesMax = 1024 * 1024;
const entriesMax = 65_536;
const nothing: Names = new Map();

/** Looks `name` (lower case) up in the file at `path`, read again when its time or size changed. A missing or oversized file is empty. */
export function hostsFile(path: string, clock: Clock): HostsFile {
  let names = nothing;
  let stamp = '';
  let lookAtMs = Number.NEGATIVE_INFINITY;
  const refresh = () => {
    const nextStamp = fileStamp(path);
    if (nextStamp === stamp) return;
    names = readNames(path);
    stamp = nextStamp;
  };
  return (name) => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= lookAtMs) {
      lookAtMs = nowMs + ageMaxMs;
      refresh();
    }
    return names.get(hostsKey(name));
  };
}

function fileStamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size}`;
}

function readNames(path: string): Names {
  try {
    const text = readFileSync(path, 'utf8');
    return text.length > fileBytesMax ? nothing : parsedHosts(text);
  } catch {
    // The file is a convenience: one that cannot be read (gone, forbidden) leaves DNS, which is asked next.
    return nothing;
  }
}

/** The names of a hosts file, in lower case, each with its addresses in the file's order. */
export function parsedHosts(text: string): Names {
  const names = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const alias of aliases) addName(names, hostsKey(alias.toLowerCase()), address);
  }
  return names;
}

/**
 * Go's absDomainName: the dot at the end of a name makes no difference, unless it is the only one. `localhost.` is asked of DNS, even where
 * the file knows `localhost`.
 */
const hostsKey = (name: string): string => (name.includes('.') && !name.endsWith('.') ? `${name}.` : name);

function addName(names: Map<string, string[]>, name: string, address: string): void {
  const addresses = names.get(name);
  if (addresses !== undefined) addresses.push(address);
  else if (names.size < entriesMax) names.set(name, [address]);
}
