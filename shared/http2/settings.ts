/** Decodes SETTINGS payloads (RFC 9113, section 6.5). The last value of each parameter counts. */

export const settingId = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
  enableConnectProtocol: 8,
} as const;

/** Undefined: not announced. */
export type Settings = {
  headerTableBytes: number | undefined;
  concurrentStreamsMax: number | undefined;
  initialWindowBytes: number | undefined;
  headerListBytesMax: number | undefined;
  /** Go checks the first value of the initial window while it parses the frame, before any other check. */
  isFirstWindowTooLarge: boolean;
  /**
   * The first value that Go's HTTP client rejects, if there is one. Go accepts any ENABLE_PUSH and MAX_FRAME_SIZE.
   */
  forbidden: 'window' | 'other' | undefined;
};

export const parameterBytes = 6;
export const windowBytesMax = 2 ** 31 - 1;

/** `payload`: a whole number of parameters. */
export function decodeSettings(payload: Buffer): Readonly<Settings> {
  const settings: Settings = {
    headerTableBytes: undefined,
    concurrentStreamsMax: undefined,
    initialWindowBytes: undefined,
    headerListBytesMax: undefined,
    isFirstWindowTooLarge: false,
    forbidden: undefined,
  };
  for (let at = 0; at < payload.length; at += parameterBytes)
    decodeSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2), settings);
  return settings;
}

function decodeSetting(id: number, value: number, settings: Settings): void {
  switch (id) {
    case settingId.headerTableSize:
      settings.headerTableBytes = value;
      return;
    case settingId.maxConcurrentStreams:
      settings.concurrentStreamsMax = value;
      return;
    case settingId.maxHeaderListSize:
      settings.headerListBytesMax = value;
      return;
    case settingId.initialWindowSize:
      if (settings.initialWindowBytes === undefined) settings.isFirstWindowTooLarge = value > windowBytesMax;
      settings.initialWindowBytes = value;
      if (value > windowBytesMax) settings.forbidden ??= 'window';
      return;
    case settingId.enableConnectProtocol:
      if (value > 1) settings.forbidden ??= 'other';
  }
}
