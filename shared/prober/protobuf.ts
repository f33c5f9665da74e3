/**
 * A protobuf message of which one number is wanted, read as it arrives: nothing of it is kept, however long it is. Everything else is
 * skipped as Go skips fields that it does not know. Source: protobuf-go, encoding/protowire/wire.go and internal/impl/decode.go. Pure.
 */

export type NumberReader = {
  /** Takes `[from, to)` of `bytes`, the next of the message. */
  readonly take: (bytes: Uint8Array, from: number, to: number) => void;
  /** The message is complete: the value of field 1, of 32 bits with a sign, 0 if it is absent; undefined: it is no protobuf. */
  readonly end: () => number | undefined;
};

/** Field 1 as a varint. */
const wantedTag = 8;
const wireType = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;
/** Field numbers of a message; in a group that is skipped they may be larger. */
const fieldNumberMax = 2 ** 29 - 1;
const groupFieldNumberMax = 2 ** 31 - 1;
/** Go's limit. */
const groupsMax = 10_000;

/** What the next varint is. */
type Expected = 'tag' | 'wanted' | 'skipped' | 'length';

export function numberReader(): NumberReader {
  const varint = varintReader();
  let number = 0;
  let isBroken = false;
  let expected: Expected = 'tag';
  let skipBytes = 0;
  /** The field numbers of the groups that are open. */
  const groups: number[] = [];

  const tag = (value: number) => {
    const field = Math.floor(value / 8);
    const isValid = field >= 1 && field <= (groups.length === 0 ? fieldNumberMax : groupFieldNumberMax);
    isBroken = !isValid || !beginField(field, value % 8, value);
  };
  /** False: no field can begin like this. */
  const beginField = (field: number, type: number, value: number): boolean => {
    switch (type) {
      case wireType.varint:
        expected = value === wantedTag && groups.length === 0 ? 'wanted' : 'skipped';
        return true;
      case wireType.fixed64:
        skipBytes = 8;
        return true;
      case wireType.bytes:
        expected = 'length';
        return true;
      case wireType.groupStart:
        return groups.push(field) <= groupsMax + 1;
      case wireType.groupEnd:
        return groups.pop() === field;
      case wireType.fixed32:
        skipBytes = 4;
        return true;
      default:
        return false;
    }
  };
  const varintEnded = () => {
    const was = expected;
    expected = 'tag';
    if (was === 'tag') tag(varint.value());
    else if (was === 'wanted') number = varint.low();
    else if (was === 'length') skipBytes = varint.value();
  };
  return {
    take: (bytes, from, to) => {
      for (let at = from; at < to && !isBroken; ) {
        if (skipBytes > 0) {
          const skipped = Math.min(skipBytes, to - at);
          skipBytes -= skipped;
          at += skipped;
          continue;
        }
        const progress = varint.take(bytes[at] ?? 0);
        at += 1;
        if (progress === 'broken') isBroken = true;
        if (progress === 'ended') varintEnded();
      }
    },
    end: () => {
      const isWhole = expected === 'tag' && !varint.isOpen() && skipBytes === 0 && groups.length === 0;
      return isWhole && !isBroken ? number : undefined;
    },
  };
}

const varintBytesMax = 10;

function varintReader() {
  let value = 0;
  let low = 0;
  let length = 0;
  let scale = 1;
  return {
    take: (byte: number): 'more' | 'ended' | 'broken' => {
      if (length === 0) {
        value = 0;
        low = 0;
        scale = 1;
      }
      const bits = byte & 0x7f;
      value += bits * scale;
      if (length < 5) low |= bits << (7 * length);
      scale *= 128;
      length += 1;
      // Of 64 bits the tenth byte has one.
      if (length === varintBytesMax && byte > 1) return 'broken';
      if (byte >= 0x80) return 'more';
      length = 0;
      return 'ended';
    },
    isOpen: () => length > 0,
    /** As a number: exact up to 2^53, beyond every limit above that. */
    value: () => value,
    /** The lower 32 bits with a sign. */
    low: () => low,
  };
}
