/** Decodes SETTINGS payloads (RFC 9113, section 6.5) piece by piece. The last value of each parameter counts. */

export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const;

export type Settings = {
  readonly headerTableBytes?: number;
  readonly concurrentStreamsMax?: number;
  readonly initialWindowBytes?: number;
  readonly headerListBytesMax?: number;
  /** Go checks the first value of the initial window while it parses the frame, before any other check. */
  readonly isFirstWindowTooLarge: boolean;
  /**
   * Set if Go's HTTP client rejects a value; `isWindow` means that the first such value is a window. Go accepts any
   * ENABLE_PUSH and MAX_FRAME_SIZE.
   */
  readonly forbidden?: { readonly isWindow: boolean };
};

const parameterBytes = 6;
export const windowBytesMax = 2 ** 31 - 1;

const names: Readonly<Record<number, keyof Settings>> = {
  [settingId.headerTableSize]: 'headerTableBytes',
  [settingId.maxConcurrentStreams]: 'concurrentStreamsMax',
  [settingId.initialWindowSize]: 'initialWindowBytes',
  [settingId.maxHeaderListSize]: 'headerListBytesMax',
};

export class SettingsReader {
  readonly #values: Record<string, number> = {};
  #isFirstWindowTooLarge = false;
  #forbidden: Settings['forbidden'];
  #id = 0;
  #value = 0;
  #length = 0;

  take(bytes: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#length < 2) this.#id = this.#id * 256 + byte;
      else this.#value = this.#value * 256 + byte;
      this.#length += 1;
      if (this.#length < parameterBytes) continue;
      this.#parameter(this.#id, this.#value);
      this.#id = 0;
      this.#value = 0;
      this.#length = 0;
    }
  }

  /** Returns undefined if the payload is not a whole number of parameters. */
  end(): Settings | undefined {
    if (this.#length > 0) return undefined;
    const isFirstWindowTooLarge = this.#isFirstWindowTooLarge;
    return { ...this.#values, isFirstWindowTooLarge, ...(this.#forbidden && { forbidden: this.#forbidden }) };
  }

  #parameter(id: number, value: number): void {
    if (!isAllowed(id, value)) this.#forbidden ??= { isWindow: id === settingId.initialWindowSize };
    const name = names[id];
    if (name === undefined) return;
    if (id === settingId.initialWindowSize && this.#values[name] === undefined)
      this.#isFirstWindowTooLarge = value > windowBytesMax;
    this.#values[name] = value;
  }
}

function isAllowed(id: number, value: number): boolean {
  if (id === settingId.initialWindowSize) return value <= windowBytesMax;
  return id !== settingId.enableConnectProtocol || value <= 1;
}
