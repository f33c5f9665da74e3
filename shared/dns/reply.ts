/**
 * Interprets a DNS server's message by the rules of Go's resolver (net, dnsclient_unix.go), which kubelet uses. Pure,
 * and linear in the length of the message. The wire format is read here and not by a library, because Go takes the
 * addresses that come before a damaged record: dns-packet 5.6 refuses the message as a whole, and comes to another
 * result for 71 of the 563 recorded replies.
 */
import ipaddr from 'ipaddr.js';
import { nameEnd, readName } from './name.ts';
import { classInternet, headerBytes, type Question, recordType } from './query.ts';
import { endWithin, type ResourceRecord, readRecord, skipRecord } from './record.ts';

export type Reply =
  /** A stray or forged message that does not answer this question. Over UDP the true reply may still arrive. */
  | { readonly kind: 'foreign'; readonly message: string }
  /** The reply does not fit in a datagram. */
  | { readonly kind: 'truncated'; readonly message: string }
  | Answer
  /** The reply is unusable; the question goes to the next server. */
  | { readonly kind: 'useless'; readonly message: string; readonly code?: string };

export type Answer =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[]; readonly ttlSeconds: number }
  /** The name does not exist or has no address of this family. */
  | { readonly kind: 'notFound' }
  /** The reply contains no addresses, and asking again would not help. `code`: the system's, if there was no reply. */
  | { readonly kind: 'failed'; readonly message: string; readonly code?: string };

export type Asked = Question & { readonly id: number };

/** Further address records of a reply are ignored; a dial tries at most eight addresses. */
const addressRecordsMax = 256;

const unreadable = 'cannot unmarshal DNS message';
const response = 0x8000;
const authoritative = 0x0400;
const truncated = 0x0200;
const recursionAvailable = 0x0080;
const codeMask = 0xf;
const code = { success: 0, nameError: 3 } as const;

/** With `overTcp`, a reply with the truncated flag is accepted as it is (go.dev/issue/64896). */
export function readReply(message: Buffer, asked: Asked, overTcp: boolean): Reply {
  const question = message.length < headerBytes ? undefined : readQuestion(message);
  if (question === undefined) return { kind: 'foreign', message: unreadable };
  const flags = message.readUInt16BE(2);
  if ((flags & response) === 0 || !isReplyTo(asked, message.readUInt16BE(0), question))
    return { kind: 'foreign', message: 'invalid DNS response' };
  if (message.readUInt16BE(4) !== 1) return { kind: 'useless', message: 'invalid DNS response' };
  if ((flags & truncated) !== 0 && !overTcp) return { kind: 'truncated', message: 'no answer from DNS server' };
  return judge(message, question.end, { asked, flags });
}

type ReadQuestion = { readonly name: string; readonly type: number; readonly class: number; readonly end: number };

function readQuestion(message: Buffer): ReadQuestion | undefined {
  if (message.readUInt16BE(4) === 0) return undefined;
  const read = readName(message, headerBytes);
  if (read === undefined || read.end + 4 > message.length) return undefined;
  const { name, end } = read;
  return { name, type: message.readUInt16BE(end), class: message.readUInt16BE(end + 2), end: end + 4 };
}

const isReplyTo = (asked: Asked, id: number, question: ReadQuestion): boolean =>
  id === asked.id &&
  question.type === asked.type &&
  question.class === classInternet &&
  question.name === asked.name.toLowerCase();

type Context = { readonly asked: Asked; readonly flags: number };

function judge(message: Buffer, start: number, { asked, flags }: Context): Reply {
  const answers = message.readUInt16BE(6);
  const { rcode, hasAdditional } = extendedCode(message, start, flags & codeMask);
  if (rcode === code.nameError) return { kind: 'notFound' };
  if (answers > 0 && readRecord(message, start) === undefined) return { kind: 'useless', message: unreadable };
  const isReferral = (flags & (authoritative | recursionAvailable)) === 0 && answers === 0 && !hasAdditional;
  if (rcode === code.success && isReferral) return { kind: 'useless', message: 'lame referral' };
  if (rcode !== code.success) return { kind: 'useless', message: 'server misbehaving' };
  return readAnswers(message, start, { answers, type: asked.type });
}

const ednsVersionMask = 0x00ff0000;

/** Combines the header's response code with the bits of the first OPT record, if the message can be parsed that far. */
function extendedCode(message: Buffer, start: number, rcode: number) {
  const skipped = message.readUInt16BE(6) + message.readUInt16BE(8);
  let at: number | undefined = start;
  for (let index = 0; index < skipped && at !== undefined; index += 1) at = skipRecord(message, at);
  let hasAdditional = false;
  for (let index = 0; index < message.readUInt16BE(10) && at !== undefined; index += 1) {
    const record = readRecord(message, at);
    if (record === undefined) break;
    hasAdditional = true;
    if (record.type === recordType.opt) {
      const high = (record.ttl & ednsVersionMask) === 0 ? (record.ttl >>> 24) << 4 : 0;
      return { rcode: high | rcode, hasAdditional };
    }
    at = endWithin(message, record);
  }
  return { rcode, hasAdditional };
}

type Wanted = { readonly answers: number; readonly type: Question['type'] };

/**
 * From the first record of the requested type on, every address counts, whatever its name, class and family: a
 * recursive server has already followed the aliases. An invalid record after an address does not invalidate the
 * address.
 */
function readAnswers(message: Buffer, start: number, { answers, type }: Wanted): Reply {
  const addresses: string[] = [];
  let ttlSeconds = ttlSecondsMax;
  let isReached = false;
  let at: number | undefined = start;
  for (let index = 0; index < answers && at !== undefined && addresses.length < addressRecordsMax; index += 1) {
    const record = readRecord(message, at);
    if (record === undefined) break;
    isReached ||= record.type === type;
    const address = isReached ? addressOf(message, record) : undefined;
    if (address !== undefined) addresses.push(address);
    at = isReached ? endOfAnswer(message, record) : endWithin(message, record);
    if (isAddress(record) || isAlias(record)) ttlSeconds = Math.min(ttlSeconds, lifetimeOf(record));
    if (!isReached && at !== undefined && index + 1 === answers) return { kind: 'notFound' };
  }
  if (addresses.length > 0) return { kind: 'addresses', addresses: [...new Set(addresses)], ttlSeconds };
  if (answers === 0) return { kind: 'notFound' };
  return { kind: isReached ? 'failed' : 'useless', message: unreadable };
}

const isAddress = ({ type }: ResourceRecord): boolean => type === recordType.a || type === recordType.aaaa;
const isAlias = ({ type }: ResourceRecord): boolean => type === recordType.cname;

const ttlSecondsMax = 0x7fffffff;

/** A TTL with its first bit set counts as zero (RFC 2181, section 8). */
const lifetimeOf = ({ ttl }: ResourceRecord): number => (ttl > ttlSecondsMax ? 0 : ttl);

/**
 * Returns the record's claimed end, or undefined if its data cannot be read. Like Go, this does not compare the claimed
 * data length with the length of the address or alias.
 */
function endOfAnswer(message: Buffer, record: ResourceRecord): number | undefined {
  const { dataAt, dataEnd } = record;
  if (isAddress(record)) return dataAt + addressBytes(record) > message.length ? undefined : dataEnd;
  if (isAlias(record)) return nameEnd(message, dataAt) === undefined ? undefined : dataEnd;
  return endWithin(message, record);
}

const addressBytes = ({ type }: ResourceRecord): number => (type === recordType.a ? 4 : 16);

/** Formats the address as Go does: an IPv4-mapped IPv6 address is printed as IPv4. */
function addressOf(message: Buffer, record: ResourceRecord): string | undefined {
  const end = record.dataAt + addressBytes(record);
  if (!isAddress(record) || end > message.length) return undefined;
  const bytes = message.subarray(record.dataAt, end);
  if (record.type === recordType.a) return bytes.join('.');
  const address = new ipaddr.IPv6([...bytes]);
  return (address.isIPv4MappedAddress() ? address.toIPv4Address() : address).toString();
}
