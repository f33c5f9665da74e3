/**
 * The names of hostile DNS exchanges, and messages about them, in which the server inserts the question it received.
 */

const suffix = '.hostile.test';
const digits = 6;
const padded = (value: number): string => `${value % 10 ** digits}`.padStart(digits, '0');

/** The name of an exchange. All names have the same length, so pointers in a message are known in advance. */
export const nameOf = (exchange: number): string => `x${padded(exchange)}${suffix}`;

let names = 0;

/** A URL with such a name gets a name below it that no cache knows. */
export function withNewName(url: string): string {
  if (!url.includes(suffix)) return url;
  names += 1;
  return url.replace('//', `//p${padded(names)}.`);
}

/** Which exchange the question of a message is about; `start`: where the message begins. */
export function exchangeIn(message: Buffer, start: number): number {
  const exchangeAt = start + headerBytes + 2 + digits + 2;
  return Number(message.toString('latin1', exchangeAt, exchangeAt + digits));
}

export const headerBytes = 12;
/** `p000001.x000001.hostile.test`, type and class. */
const questionBytes = 2 * (digits + 2) + suffix.length + 1 + 4;
export const answersAt = headerBytes + questionBytes;

/** Stand for what the question says. */
const anyId = Buffer.from('ID');
const anyQuestion = Buffer.alloc(questionBytes, 'Q');

export const uint16 = (...values: readonly number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [(value >> 8) & 0xff, value & 0xff]));

const flagsDefault = 0x8180;

export type MessageOptions = {
  readonly flags?: number;
  readonly id?: Buffer;
  readonly answers?: number;
  readonly questions?: number;
  readonly others?: number;
};

/** A message without records. */
export function head(options: MessageOptions = {}): Buffer {
  const { flags = flagsDefault, id = anyId, answers = 0, questions = 1, others = 0 } = options;
  return Buffer.concat([id, uint16(flags, questions, answers, others, others), anyQuestion]);
}

/** In place of what stands for it: the id and the question of `query`, a message that begins at `start`. */
export function echoed(bytes: Buffer, query: Buffer, start: number): Buffer {
  const at = bytes.indexOf(anyQuestion);
  if (at < headerBytes) return bytes;
  const message = Buffer.from(bytes);
  query.copy(message, at, start + headerBytes, start + answersAt);
  const idAt = at - headerBytes;
  if (message.subarray(idAt, idAt + 2).equals(anyId)) query.copy(message, idAt, start, start + 2);
  return message;
}
