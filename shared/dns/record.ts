/** One resource record of a DNS message, RFC 1035, section 4.1.3. */
import { nameEnd, skippedNameEnd } from './name.ts';

export type ResourceRecord = {
  readonly type: number;
  readonly ttl: number;
  readonly dataAt: number;
  /** As the record says; it may lie outside the message. */
  readonly dataEnd: number;
};

/** Type, class, TTL and the length of the data. */
const fixedBytes = 10;

/** The record at `start`; undefined: its name is not valid, or the message ends before its data. */
export const readRecord = (message: Buffer, start: number): ResourceRecord | undefined =>
  recordBehind(message, nameEnd(message, start));

/** Where the next record begins, without a look at this one's name; undefined: the message ends before. */
export function skipRecord(message: Buffer, start: number): number | undefined {
  const record = recordBehind(message, skippedNameEnd(message, start));
  return record === undefined ? undefined : endWithin(message, record);
}

/** The end of the record, if it is in the message. */
export const endWithin = (message: Buffer, { dataEnd }: ResourceRecord): number | undefined =>
  dataEnd > message.length ? undefined : dataEnd;

function recordBehind(message: Buffer, name: number | undefined): ResourceRecord | undefined {
  if (name === undefined || name + fixedBytes > message.length) return undefined;
  const dataAt = name + fixedBytes;
  return {
    type: message.readUInt16BE(name),
    ttl: message.readUInt32BE(name + 4),
    dataAt,
    dataEnd: dataAt + message.readUInt16BE(name + 8),
  };
}
