/**
 * Header fields of HTTP/1, read as they arrive, as lenient and as strict as Go's net/textproto: bare LF, folded fields and a space before
 * the colon pass; a missing colon or a control character does not. Only the values that are asked for are kept. Each byte is looked at
 * once. Texts here are one character per byte.
 */
import { goQuote, trimAscii } from '../core/go-text.ts';

export type FieldReader = {
  /** Takes `bytes` from `from` on. */
  readonly take: (bytes: Buffer, from: number) => FieldsProgress;
  /** The values that are kept, by lower-case name, in order. */
  readonly fields: () => Fields;
};

export type Fields = ReadonlyMap<string, readonly string[]>;

export type FieldsProgress =
  | 'more'
  /** The empty line came; `end`: where what follows it begins. */
  | { readonly kind: 'end'; readonly end: number }
  | { readonly kind: 'malformed'; readonly message: string }
  /** There is no memory for what would have to be kept. */
  | { readonly kind: 'tooMuch' };

export type Keeping = {
  /** Lower-case names. */
  readonly kept: ReadonlySet<string>;
  /** Whether so many bytes more may be kept. */
  readonly reserve: Reserve;
};

export type Reserve = (bytes: number) => boolean;

/** What a kept line costs beside its bytes, roughly. */
const lineOverheadBytes = 32;

/** Of a name that may be kept. */
const nameBytesMax = 64;

const [tab, lineFeed, carriageReturn, space, colon] = [0x09, 0x0a, 0x0d, 0x20, 0x3a];

const bytesThat = (pass: (byte: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, byte) => Number(pass(byte)));

/** A space may stand in a name, because Go lets one stand before the colon; such a field is then none that it knows. */
const isNameByte = bytesThat((byte) => /[!#$%&'*+\-.^_`|~0-9A-Za-z ]/.test(String.fromCharCode(byte)));
const isValueByte = bytesThat((byte) => byte === tab || (byte >= space && byte !== 0x7f));

/** Where the next byte to look at is, or what ends the block. */
type Step = number | Exclude<FieldsProgress, 'more'>;

/** `carriageReturn`: one that must end the line; `lastCarriageReturn`: one that must end the block. */
type State = 'lineStart' | 'name' | 'value' | 'carriageReturn' | 'lastCarriageReturn';

export function fieldReader({ kept, reserve }: Keeping): FieldReader {
  const fields = new Map<string, string[]>();
  let state: State = 'lineStart';
  let isFirstLine = true;
  /** What has arrived of the name, unless it is too long for any that is kept. */
  let name = '';
  let nameBytes = 0;
  /** The values that the line belongs to; undefined: nobody asks for them. */
  let values: string[] | undefined;
  let pieces: string[] = [];

  const beginLine = (byte: number, at: number): Step => {
    const wasFirst = isFirstLine;
    isFirstLine = false;
    if (byte === lineFeed) return { kind: 'end', end: at + 1 };
    if (byte === carriageReturn) return enter('lastCarriageReturn', at + 1);
    if (byte === space || byte === tab)
      return wasFirst ? malformed('malformed MIME header initial line') : enter('value', at + 1);
    name = '';
    nameBytes = 0;
    return enter('name', at);
  };
  const takeName = (bytes: Buffer, from: number): Step => {
    const end = endOf(isNameByte, bytes, from);
    nameBytes += end - from;
    if (nameBytes <= nameBytesMax) name += bytes.toString('latin1', from, end);
    if (end === bytes.length) return end;
    const byte = bytes[end];
    if (byte === lineFeed || byte === carriageReturn)
      return malformed(`malformed MIME header: missing colon: ${goQuote(name)}`);
    if (byte !== colon || nameBytes === 0) return malformed('malformed MIME header line');
    values = valuesOf(nameBytes <= nameBytesMax ? name.toLowerCase() : '');
    values?.push('');
    return enter('value', end + 1);
  };
  const valuesOf = (known: string): string[] | undefined => {
    if (!kept.has(known)) return undefined;
    const before = fields.get(known) ?? [];
    fields.set(known, before);
    return before;
  };
  const takeValue = (bytes: Buffer, from: number): Step => {
    const end = endOf(isValueByte, bytes, from);
    if (values !== undefined && end > from) {
      if (!reserve(end - from)) return tooMuch;
      pieces.push(bytes.toString('latin1', from, end));
    }
    if (end === bytes.length) return end;
    const byte = bytes[end];
    if (byte === carriageReturn) return enter('carriageReturn', end + 1);
    return byte === lineFeed ? endLine(end + 1) : malformed('malformed MIME header line');
  };
  /** Blanks before a value do not count, so an empty first line leaves no space. */
  const endLine = (next: number): Step => {
    if (values !== undefined) {
      const line = trimAscii(pieces.join(''));
      const before = values.pop() ?? '';
      values.push(before === '' ? line : `${before} ${line}`);
      pieces = [];
      if (!reserve(lineOverheadBytes)) return tooMuch;
    }
    return enter('lineStart', next);
  };
  const enter = (next: State, at: number): number => {
    state = next;
    return at;
  };
  const step = (bytes: Buffer, at: number): Step => {
    const byte = bytes[at] ?? 0;
    switch (state) {
      case 'lineStart':
        return beginLine(byte, at);
      case 'name':
        return takeName(bytes, at);
      case 'value':
        return takeValue(bytes, at);
      case 'carriageReturn':
        return byte === lineFeed ? endLine(at + 1) : malformed('malformed MIME header line');
      case 'lastCarriageReturn':
        return byte === lineFeed ? { kind: 'end', end: at + 1 } : malformed('malformed MIME header line');
    }
  };
  const take = (bytes: Buffer, from: number): FieldsProgress => {
    for (let at = from; at < bytes.length; ) {
      const next = step(bytes, at);
      if (typeof next !== 'number') return next;
      at = next;
    }
    return 'more';
  };
  return { take, fields: () => fields };
}

/** Where the bytes that pass end. */
function endOf(passes: Uint8Array, bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && passes[bytes[at] ?? 0] === 1) at += 1;
  return at;
}

const malformed = (message: string): Exclude<FieldsProgress, 'more'> => ({ kind: 'malformed', message });
const tooMuch: Exclude<FieldsProgress, 'more'> = { kind: 'tooMuch' };
