/**
 * Reads one number of a protobuf message as the message arrives, and keeps none of its bytes. All other fields are
 * skipped as Go skips unknown fields. Source: protobuf-go, encoding/protowire/wire.go and internal/impl/decode.go.
 * Pure.
 */

/** Field 1 as a varint. */
const wantedTag = 8;
const wireType = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;
/** The highest field number of a message, and of a skipped group. */
const fieldNumberMax = 2 ** 29 - 1;
const groupFieldNumberMax = 2 ** 31 - 1;
/** Go's limit of nesting. */
const groupsMax = 10_000;

/** The meaning of the next varint. */
type Expected = 'tag' | 'wanted' | 'skipped' | 'length';

const varintBytesMax = 10;

class VarintReader {
  #value = 0;
  #low = 0;
  #length = 0;
  #scale = 1;

  take(byte: number): 'more' | 'ended' | 'broken' {
    if (this.#length === 0) {
      this.#value = 0;
      this.#low = 0;
      this.#scale = 1;
    }
    const bits = byte & 0x7f;
    this.#value += bits * this.#scale;
    if (this.#length < 5) this.#low |= bits << (7 * this.#length);
    this.#scale *= 128;
    this.#length += 1;
    // The tenth byte holds the last of 64 bits.
    if (this.#length === varintBytesMax && byte > 1) return 'broken';
    if (byte >= 0x80) return 'more';
    this.#length = 0;
    return 'ended';
  }

  isOpen(): boolean {
    return this.#length > 0;
  }

  /** Exact up to 2^53; larger values exceed every limit anyway. */
  value(): number {
    return this.#value;
  }

  /** Returns the lower 32 bits as a signed number. */
  low(): number {
    return this.#low;
  }
}

export class NumberReader {
  readonly #varint = new VarintReader();
  #number = 0;
  #isBroken = false;
  #expected: Expected = 'tag';
  #skipBytes = 0;
  /** The field numbers of the open groups. */
  readonly #groups: number[] = [];

  /** Takes `bytes[from, to)`, the next bytes of the message. */
  take(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && !this.#isBroken; ) {
      if (this.#skipBytes > 0) {
        const skipped = Math.min(this.#skipBytes, to - at);
        this.#skipBytes -= skipped;
        at += skipped;
        continue;
      }
      const progress = this.#varint.take(bytes[at] ?? 0);
      at += 1;
      if (progress === 'broken') this.#isBroken = true;
      if (progress === 'ended') this.#endVarint();
    }
  }

  /**
   * Ends the message. Returns field 1 as a signed number of 32 bits, or 0 if it is absent; undefined if the message is
   * not valid protobuf.
   */
  end(): number | undefined {
    const isBetweenFields = this.#expected === 'tag' && !this.#varint.isOpen() && this.#skipBytes === 0;
    const isWhole = isBetweenFields && this.#groups.length === 0;
    return isWhole && !this.#isBroken ? this.#number : undefined;
  }

  #endVarint(): void {
    const was = this.#expected;
    this.#expected = 'tag';
    if (was === 'tag') this.#takeTag(this.#varint.value());
    else if (was === 'wanted') this.#number = this.#varint.low();
    else if (was === 'length') this.#skipBytes = this.#varint.value();
  }

  #takeTag(tag: number): void {
    const field = Math.floor(tag / 8);
    const isValid = field >= 1 && field <= (this.#groups.length === 0 ? fieldNumberMax : groupFieldNumberMax);
    this.#isBroken = !isValid || !this.#beginField(field, tag);
  }

  /** Returns false if no field can begin with this tag. */
  #beginField(field: number, tag: number): boolean {
    switch (tag % 8) {
      case wireType.varint:
        this.#expected = tag === wantedTag && this.#groups.length === 0 ? 'wanted' : 'skipped';
        return true;
      case wireType.fixed64:
        this.#skipBytes = 8;
        return true;
      case wireType.bytes:
        this.#expected = 'length';
        return true;
      case wireType.groupStart:
        return this.#groups.push(field) <= groupsMax + 1;
      case wireType.groupEnd:
        return this.#groups.pop() === field;
      case wireType.fixed32:
        this.#skipBytes = 4;
        return true;
      default:
        return false;
    }
  }
}
