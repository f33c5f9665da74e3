/** Decodes header blocks fragment by fragment, and validates them as Go's `Framer.readMetaFrame` does. */
import { type ConnectionFault, errorCode, fault } from './frames.ts';
import { HpackDecoder } from './hpack.ts';
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

/** The only pseudo-header field that a response may contain. */
const statusField = ':status';
const pseudoFields: ReadonlySet<string> = new Set([
  ...[statusField, ':method', ':path', ':scheme', ':authority', ':protocol'],
]);

/** Reads one block after another. */
export class BlockReader {
  readonly #options: BlockOptions;
  readonly #decoder: HpackDecoder;
  #start: BlockStart | undefined;
  #pseudo = new Map<string, string>();
  #sawRegular = false;
  #isTruncated = false;
  #listBytes = 0;
  #remainingBytes = 0;
  #malformed: string | undefined;
  #pseudoProblem: string | undefined;

  constructor(options: BlockOptions) {
    this.#options = options;
    this.#decoder = new HpackDecoder({
      onField: (field) => this.#takeField(field),
      isWanted: (name) => name.startsWith(':') || options.isWanted(name),
      stringBytesMax: options.listBytesMax,
      reserve: options.reserve,
    });
  }

  isOpen(): boolean {
    return this.#start !== undefined;
  }

  begin(start: BlockStart): void {
    this.#start = start;
    this.#pseudo = new Map();
    this.#sawRegular = false;
    this.#isTruncated = false;
    this.#listBytes = 0;
    this.#remainingBytes = this.#options.listBytesMax;
    this.#malformed = undefined;
    this.#pseudoProblem = undefined;
  }

  /** Takes the fragment of one frame. `isLast`: the block is complete. */
  take(fragment: Uint8Array, isLast: boolean): BlockEnd | ConnectionFault | undefined {
    if (fragment.length > 2 * this.#remainingBytes || this.#malformed !== undefined)
      return fault(errorCode.protocol, this.#malformed ?? 'header list too large');
    const undecodable = this.#decoder.take(fragment);
    if (undecodable !== undefined) return fault(errorCode.compression, undecodable);
    return isLast && this.#start ? this.#endBlock(this.#start) : undefined;
  }

  #takeField(field: Field): void {
    const isPseudo = field.name.startsWith(':');
    this.#malformed = this.#problemOf(field, isPseudo);
    this.#sawRegular ||= !isPseudo;
    const bytes = sizeOf(field);
    if (this.#malformed === undefined && bytes > this.#remainingBytes) {
      this.#isTruncated = true;
      this.#remainingBytes = 0;
    }
    if (this.#malformed !== undefined || this.#isTruncated) {
      this.#decoder.ignoreRest();
      return;
    }
    this.#remainingBytes -= bytes;
    this.#listBytes += bytes;
    if (isPseudo) this.#takePseudo(field);
    else if (this.#options.isWanted(field.name)) this.#options.onField(field);
  }

  #problemOf(field: Field, isPseudo: boolean): string | undefined {
    if (isPseudo && this.#sawRegular) return 'pseudo header field after regular';
    if (!isPseudo && !field.isNameValid) return 'invalid header field name';
    return field.isValueValid ? undefined : 'invalid header field value';
  }

  #takePseudo({ name, value = '' }: Field): void {
    if (!pseudoFields.has(name)) this.#pseudoProblem ??= `invalid pseudo-header "${name}"`;
    else if (this.#pseudo.has(name)) this.#pseudoProblem ??= `duplicate pseudo-header "${name}"`;
    else this.#pseudo.set(name, value);
  }

  #endBlock(start: BlockStart): BlockEnd | ConnectionFault {
    this.#start = undefined;
    const cut = this.#decoder.endBlock();
    if (cut !== undefined) return fault(errorCode.compression, cut);
    const pseudo = this.#pseudo;
    const isMixed = pseudo.has(statusField) && pseudo.size > 1;
    const problem =
      this.#malformed ?? this.#pseudoProblem ?? (isMixed ? 'mix of request and response pseudo headers' : undefined);
    if (problem !== undefined) return { kind: 'malformed', streamId: start.streamId, message: problem };
    return {
      kind: 'block',
      block: { ...start, pseudo, isTruncated: this.#isTruncated, listBytes: this.#listBytes },
    };
  }
}
