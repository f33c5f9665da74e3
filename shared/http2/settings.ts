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

export type SettingsReader = {
  readonly take: (bytes: Uint8Array, from: number, to: number) => void;
  /** Returns undefined if the payload is not a whole number of parameters. */
  readonly end: () => Settings | undefined;
};

const parameterBytes = 6;
export const windowBytesMax = 2 ** 31 - 1;

const names: Readonly<Record<number, keyof Settings>> = {
  [settingId.headerTableSize]: 'headerTableBytes',
  [settingId.maxConcurrentStreams]: 'concurrentStreamsMax',
  [settingId.initialWindowSize]: 'initialWindowBytes',
  [settingId.maxHeaderListSize]: 'headerListBytesMax',
};

export function settingsReader(): SettingsReader {
  const values: Record<string, number> = {};
  let isFirstWindowTooLarge = false;
  let forbidden: Settings['forbidden'];
  let id = 0;
  let value = 0;
  let length = 0;

  const parameter = () => {
    if (!isAllowed(id, value)) forbidden ??= { isWindow: id === settingId.initialWindowSize };
    const name = names[id];
    if (name === undefined) return;
    if (id === settingId.initialWindowSize && values[name] === undefined)
      isFirstWindowTooLarge = value > windowBytesMax;
    values[name] = value;
  };
  return {
    take: (bytes, from, to) => {
      for (let at = from; at < to; at += 1) {
        const byte = bytes[at] ?? 0;
        if (length < 2) id = id * 256 + byte;
        else value = value * 256 + byte;
        length += 1;
        if (length < parameterBytes) continue;
        parameter();
        id = 0;
        value = 0;
        length = 0;
      }
    },
    end: () => (length === 0 ? { ...values, isFirstWindowTooLarge, ...(forbidden && { forbidden }) } : undefined),
  };
}

function isAllowed(id: number, value: number): boolean {
  if (id === settingId.initialWindowSize) return value <= windowBytesMax;
  return id !== settingId.enableConnectProtocol || value <= 1;
}
