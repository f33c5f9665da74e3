/** One resource record of a DNS message (RFC 1035, section 4.1.3). */
import { nameEnd, skippedNameEnd } from './name.ts';

export type ResourceRecord = {
  readonly type: number;
  readonly ttl: number;
  readonly dataAt: number;
  /** The end that the record claims; it may lie outside the message. */
  readonly dataEnd: number;
};

/** Type, class, TTL and data length. */
const fixedBytes = 10;

/** Returns the record at `start`, or undefined if its name is invalid or the message ends before its data. */
export const readRecord = (message: Buffer, start: number): ResourceRecord | undefined =>
  recordBehind(message, nameEnd(message, start));

/**
 * Returns the offset of the next record without validating this record's name, or undefined if the message ends before
 * it.
 */
export function skipRecord(message: Buffer, start: number): number | undefined {
  const record = recordBehind(message, skippedNameEnd(message, start));
  return record === undefined ? undefined : endWithin(message, record);
}

/** Returns the end of the record, or undefined if it lies outside the message. */
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
