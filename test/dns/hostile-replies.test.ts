/** What a hostile answer may cost: time in proportion to its bytes, whatever they are. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock } from '../../shared/lib/clock.ts';
import { dns } from '../../shared/net/dns.ts';
import { type Piece, startDnsScript } from '../support/dns-script-server.ts';

const question = '01780474657374000001' + '0001';
const replyBytes = 12 + question.length / 2;
const hex = (value: number, bytes: number): string => value.toString(16).padStart(2 * bytes, '0');
const header = (answers: number, flags = 0x8180): string => `0000${hex(flags, 2)}0001${hex(answers, 2)}00000000`;
const record = (name: string, type: number, data: string): string =>
  `${name}${hex(type, 2)}0001${hex(60, 4)}${hex(data.length / 2, 2)}${data}`;
const pointer = (to: number): string => hex(0xc000 | to, 2);
const bytesIn = (text: string): number => text.length / 2;

/** A reply of at most `bytes` bytes: `first`, then as many `each` as there is room for. */
function filled(bytes: number, each: (at: number) => string, first = ''): readonly Piece[] {
  const records: string[] = first === '' ? [] : [first];
  let length = replyBytes + bytesIn(first);
  for (let next = each(length); length + bytesIn(next) <= bytes; next = each(length)) {
    records.push(next);
    length += bytesIn(next);
  }
  return [[header(records.length) + question + records.join(''), 1]];
}

const unknown = 65280;
const longName = `${`3f${'61'.repeat(63)}`.repeat(3)}3d${'61'.repeat(61)}00`;
const firstData = replyBytes + 12;
/** Nine pointers, each to the next, and a name of 254 bytes behind them. */
const pointers = Array.from({ length: 9 }, (_, at) => pointer(firstData + 2 * (at + 1))).join('');
const chain = record(pointer(12), unknown, pointers + longName);
const far = pointer(firstData);
const label = (at: number): string => `04${hex(at, 4)}${pointer(12)}`;

const hostile: Readonly<Record<string, (bytes: number) => readonly Piece[]>> = {
  addresses: (bytes) => filled(bytes, (at) => record(pointer(12), 1, hex(0x0a000000 + at, 4))),
  'addresses of names of their own': (bytes) => filled(bytes, (at) => record(label(at), 1, hex(0x0a000000 + at, 4))),
  'aliases of themselves': (bytes) => filled(bytes, () => record(pointer(12), 5, pointer(12))),
  'aliases, each of the next': (bytes) => filled(bytes, (at) => record(label(at), 5, label(at + 24))),
  'names behind nine pointers': (bytes) => filled(bytes, () => record(far, unknown, ''), chain),
  'aliases behind nine pointers': (bytes) => filled(bytes, () => record(far, 5, far), chain),
  'empty records': (bytes) => filled(bytes, () => record('00', unknown, '')),
  texts: (bytes) => filled(bytes, () => record('00', 16, '00'.repeat(64))),
  options: (bytes) => filled(bytes, () => record('00', 41, '')),
};

const wholeBytes = 65_000;
const rounds = 9;

/** CPU time of one lookup whose answer is that reply, in µs: the least of several. */
async function costUs(reply: readonly Piece[]): Promise<number> {
  const bytes = reply.reduce((sum, [piece, times]) => sum + bytesIn(piece) * times, 0);
  const server = await startDnsScript({
    udp: [{ send: [[header(0, 0x8380) + question, 1]] }],
    tcp: [[hex(bytes, 2), 1], ...reply],
  });
  const ask = dns({ clock: systemClock, servers: [server.address] });
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    await ask('x.test');
    const { user, system } = process.cpuUsage(before);
    costs.push(user + system);
  }
  await server.close();
  return Math.min(...costs);
}

/** What a busy machine adds to either measurement. */
const noiseUs = 3000;
const parts = 8;
/** A busy machine only adds to a cost, so the least of several measurements is the nearest to it. */
const timesMax = 5;

describe('an answer costs time in proportion to its bytes', () => {
  for (const [what, reply] of Object.entries(hostile))
    test(what, async () => {
      const least = {
        idleUs: Number.POSITIVE_INFINITY,
        partUs: Number.POSITIVE_INFINITY,
        wholeUs: Number.POSITIVE_INFINITY,
      };
      const measured = async () => {
        least.idleUs = Math.min(least.idleUs, await costUs([[header(0) + question, 1]]));
        least.partUs = Math.min(least.partUs, await costUs(reply(wholeBytes / parts)));
        least.wholeUs = Math.min(least.wholeUs, await costUs(reply(wholeBytes)));
        const [partUs, wholeUs] = [least.partUs - least.idleUs, least.wholeUs - least.idleUs];
        return { partUs, wholeUs, limitUs: 1.5 * parts * Math.max(partUs, 0) + noiseUs };
      };
      let shown = await measured();
      for (let time = 1; time < timesMax && shown.wholeUs > shown.limitUs; time += 1) shown = await measured();
      const { partUs, wholeUs, limitUs } = shown;
      assert.ok(wholeUs <= limitUs, `${parts} times the bytes: ${partUs} µs become ${wholeUs} µs, limit ${limitUs} µs`);
    });
});
