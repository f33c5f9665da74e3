/**
 * What Go's resolver made of each reply in `go-replies.jsonl` (see README.md beside it), and what this one makes of it.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '../../shared/lib/clock.ts';
import { type DnsAnswer, dns } from '../../shared/net/dns.ts';
import { type DnsScript, startDnsScript } from '../support/dns-script-server.ts';

type Recorded = DnsScript & {
  readonly name: string;
  readonly outcome:
    | { readonly addresses: readonly string[] }
    | {
        readonly error: string;
        readonly notFound: boolean;
        /** How often the question was asked. */
        readonly udp?: number;
        readonly tcp?: number;
      };
};

const recorded: readonly Recorded[] = readFileSync(join(import.meta.dirname, 'go-replies.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

const inFlightMax = 60;

/** On a busy machine an answer may come after the time for it: where one is expected, it is waited for. */
const patientClock: Clock = {
  ...systemClock,
  setTimer: (delayMs, callback) => systemClock.setTimer(delayMs * 20, callback),
};

const expectsTimeout = ({ outcome }: Recorded): boolean => 'error' in outcome && outcome.error === 'i/o timeout';

/** Not one after the other: some wait for a time-out. */
async function outcomes(): Promise<ReadonlyMap<string, unknown>> {
  const seen = new Map<string, unknown>();
  const waiting = [...recorded];
  const lane = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      seen.set(next.name, await seenOutcome(next));
  };
  await Promise.all(Array.from({ length: inFlightMax }, lane));
  return seen;
}

async function seenOutcome(script: Recorded): Promise<unknown> {
  const server = await startDnsScript(script);
  const clock = expectsTimeout(script) ? systemClock : patientClock;
  const { resolution } = await dns({ clock, servers: [server.address] })('x.test');
  await server.close();
  return comparable(resolution, script.tcp ? server.asked : { udp: server.asked.udp });
}

function comparable(resolution: DnsAnswer['resolution'], asked: { readonly udp: number; readonly tcp?: number }) {
  if (resolution.kind === 'resolved') return { addresses: resolution.addresses.toSorted() };
  const error = { error: resolution.message, notFound: resolution.kind === 'notFound' };
  return error.error === 'i/o timeout' ? error : { ...error, ...asked };
}

/** Go names the endpoint of a refused connection, and distinguishes an end before the first byte from a later one. */
const wordsOf = (error: string): string =>
  error.replace(/^dial tcp SERVER: connect: /, '').replace(/^EOF$/, 'unexpected EOF');

function expected({ outcome }: Recorded): unknown {
  if ('addresses' in outcome) return { addresses: outcome.addresses.toSorted() };
  const { error, notFound, udp, tcp } = outcome;
  return { error: wordsOf(error), notFound, ...(udp !== undefined && { udp }), ...(tcp !== undefined && { tcp }) };
}

describe('a reply comes to what Go makes of it', async () => {
  const seen = await outcomes();
  for (const each of recorded) test(each.name, () => assert.deepEqual(seen.get(each.name), expected(each)));
});
