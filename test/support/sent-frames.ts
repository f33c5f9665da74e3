/**
 * The frames of one client connection that ask for something: the client's settings, its first window, and requests.
 * Acknowledgements and the frames by which a client measures or leaves come or go with the timing. The vectors'
 * recorder takes the same.
 */
import { HpackDecoder } from '../../shared/http2/hpack.ts';

export type SentFrame = {
  readonly type: string;
  readonly flags: number;
  readonly stream: number;
  /** Of SETTINGS, WINDOW_UPDATE and DATA, in hexadecimal. */
  readonly payload?: string;
  /** Of HEADERS and CONTINUATION, by name. */
  readonly fields?: readonly (readonly [name: string, value: string])[];
};

const names = ['DATA', 'HEADERS', 'PRIORITY', 'RST_STREAM', 'SETTINGS', 'PUSH_PROMISE', 'PING', 'GOAWAY'];
const moreNames = ['WINDOW_UPDATE', 'CONTINUATION'];
const ack = 1;
const headerBytes = 9;
const stringBytesMax = 64 * 1024;

export class SentFrames {
  readonly frames: SentFrame[] = [];
  #fields: [name: string, value: string][] = [];
  #isAsked = false;
  /** The product's: it decodes what RFC 7541 and Go encode, which other tests show. */
  readonly #decoder = new HpackDecoder({
    onField: ({ name, value = '' }) => this.#fields.push([name, sentValue(name, value)]),
    isWanted: () => true,
    stringBytesMax,
    reserve: () => true,
  });

  /** Takes the next frame. */
  add(bytes: Buffer): void {
    const type = [...names, ...moreNames][bytes[3] ?? 0] ?? '';
    const frame = { type, flags: bytes[4] ?? 0, stream: bytes.readUInt32BE(5) };
    const payload = bytes.subarray(headerBytes);
    if (type === 'HEADERS' || type === 'CONTINUATION') {
      this.#isAsked = true;
      this.frames.push({ ...frame, fields: this.#fieldsOf(payload) });
    } else if (this.#isKept(frame)) this.frames.push({ ...frame, payload: payload.toString('hex') });
  }

  #isKept({ type, flags }: SentFrame): boolean {
    if (type === 'SETTINGS') return (flags & ack) === 0;
    return type === 'DATA' || (type === 'WINDOW_UPDATE' && !this.#isAsked);
  }

  #fieldsOf(fragment: Buffer): NonNullable<SentFrame['fields']> {
    this.#fields = [];
    const problem = this.#decoder.take(fragment);
    if (problem !== undefined) throw new Error(problem);
    return this.#fields.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b)));
  }
}

/** Without what differs from run to run, and without the version of grpc-go in the user agent. */
function sentValue(name: string, value: string): string {
  if (name === 'grpc-timeout') return '{TIME}';
  return name === 'user-agent' ? value.replace(/ grpc-go\/.*$/, '') : value;
}
