/**
 * Decodes header blocks from the fragments in HEADERS and CONTINUATION frames as they arrive, and validates them as
 * Go's `Framer.readMetaFrame` does.
 */
import { type ConnectionFault, errorCode, fault } from './frames.ts';
import { hpackDecoder } from './hpack-decoder.ts';
import { type Field, sizeOf } from './hpack-table.ts';

export type BlockStart = { readonly streamId: number; readonly endStream: boolean };

/** A complete block. Its regular fields have already been passed to `onField`. */
export type Block = BlockStart & {
  /** Pseudo-header fields by name. */
  readonly pseudo: ReadonlyMap<string, string>;
  /** The list exceeded the limit, and the fields beyond the limit were dropped. */
  readonly isTruncated: boolean;
  /** The size by HTTP/2's definition: the bytes of all names and values, plus 32 for each field. */
  readonly listBytes: number;
};

export type BlockOptions = {
  /** SETTINGS_MAX_HEADER_LIST_SIZE. Also limits the length of one string. */
  readonly listBytesMax: number;
  /** Selects the regular fields to pass to `onField`. */
  readonly isWanted: (name: string) => boolean;
  /** See `HpackOptions`. */
  readonly reserve: (bytes: number) => boolean;
  /** Receives a selected regular field. It must have no effect before the block is complete. */
  readonly onField: (field: Field) => void;
};

export type BlockEnd =
  | { readonly kind: 'block'; readonly block: Block }
  /** The fields violate HTTP/2, which ends the stream but not the connection. */
  | { readonly kind: 'malformed'; readonly streamId: number; readonly message: string };

export type BlockReader = {
  readonly isOpen: () => boolean;
  readonly begin: (start: BlockStart) => void;
  /** A fragment of `bytes` bytes begins. */
  readonly beginFragment: (bytes: number) => void;
  readonly take: (bytes: Uint8Array, from: number, to: number) => void;
  /** The frame with the fragment is complete. `isLast` means that the block is complete as well. */
  readonly endFragment: (isLast: boolean) => BlockEnd | ConnectionFault | undefined;
};

/** The only pseudo-header field that a response may contain. */
const statusField = ':status';
const pseudoFields: ReadonlySet<string> = new Set([
  ...[statusField, ':method', ':path', ':scheme', ':authority', ':protocol'],
]);

export function blockReader({ listBytesMax, isWanted, reserve, onField }: BlockOptions): BlockReader {
  let start: BlockStart | undefined;
  let pseudo = new Map<string, string>();
  let sawRegular = false;
  let isTruncated = false;
  let listBytes = 0;
  let remainingBytes = 0;
  /** Errors of the fields, of their encoding, and of the current fragment. */
  let malformed: string | undefined;
  let pseudoProblem: string | undefined;
  let undecodable: string | undefined;
  let isTooMuch = false;

  const problemOf = (field: Field, isPseudo: boolean): string | undefined => {
    if (isPseudo) return sawRegular ? 'pseudo header field after regular' : undefined;
    return field.isNameValid ? undefined : 'invalid header field name';
  };
  const take = (field: Field) => {
    const isPseudo = field.name.startsWith(':');
    malformed = problemOf(field, isPseudo) ?? (field.isValueValid ? undefined : 'invalid header field value');
    sawRegular ||= !isPseudo;
    const bytes = sizeOf(field);
    if (malformed === undefined && bytes > remainingBytes) {
      isTruncated = true;
      remainingBytes = 0;
    }
    if (malformed !== undefined || isTruncated) return decoder.ignoreRest();
    remainingBytes -= bytes;
    listBytes += bytes;
    if (isPseudo) takePseudo(field);
    else if (isWanted(field.name)) onField(field);
  };
  const takePseudo = ({ name, value = '' }: Field) => {
    if (!pseudoFields.has(name)) pseudoProblem ??= `invalid pseudo-header "${name}"`;
    else if (pseudo.has(name)) pseudoProblem ??= `duplicate pseudo-header "${name}"`;
    else pseudo.set(name, value);
  };
  const decoder = hpackDecoder({
    onField: take,
    isWanted: (name) => name.startsWith(':') || isWanted(name),
    stringBytesMax: listBytesMax,
    reserve,
  });

  const endBlock = (begun: BlockStart): BlockEnd | ConnectionFault => {
    start = undefined;
    const cut = decoder.endBlock();
    if (cut !== undefined) return fault(errorCode.compression, cut);
    const isMixed = pseudo.has(statusField) && pseudo.size > 1;
    const problem = malformed ?? pseudoProblem ?? (isMixed ? 'mix of request and response pseudo headers' : undefined);
    if (problem !== undefined) return { kind: 'malformed', streamId: begun.streamId, message: problem };
    return { kind: 'block', block: { ...begun, pseudo, isTruncated, listBytes } };
  };

  return {
    isOpen: () => start !== undefined,
    begin: (begun) => {
      start = begun;
      pseudo = new Map();
      sawRegular = false;
      isTruncated = false;
      listBytes = 0;
      remainingBytes = listBytesMax;
      malformed = undefined;
      pseudoProblem = undefined;
      undecodable = undefined;
    },
    beginFragment: (bytes) => {
      isTooMuch = bytes > 2 * remainingBytes || malformed !== undefined;
    },
    take: (bytes, from, to) => {
      if (!isTooMuch) undecodable ??= decoder.take(bytes, from, to);
    },
    endFragment: (isLast) => {
      if (isTooMuch) return fault(errorCode.protocol, malformed ?? 'header list too large');
      if (undecodable !== undefined) return fault(errorCode.compression, undecodable);
      return isLast && start ? endBlock(start) : undefined;
    },
  };
}
