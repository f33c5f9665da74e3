/** What a peer may still send on one stream, and when to grant it more. Source: grpc-go, internal/transport/flowcontrol.go (inFlow). Pure. */
import { windowBytesMax } from './settings.ts';

export type ReceiveWindow = {
  /** So many bytes arrived; false: more than was granted. */
  readonly arrived: (bytes: number) => boolean;
  /** So many of them were read. Returns what to grant now, 0: nothing. */
  readonly read: (bytes: number) => number;
  /** So many are about to be read. Returns what to grant now so that they can come. */
  readonly expect: (bytes: number) => number;
};

/** A grant is told once it comes to this part of the window. */
const grantedPart = 1 / 4;

export function receiveWindow(limitBytes: number): ReceiveWindow {
  let unreadBytes = 0;
  let untoldBytes = 0;
  /** Granted for one large message beyond the limit. */
  let extraBytes = 0;
  return {
    arrived: (bytes) => {
      unreadBytes += bytes;
      return unreadBytes + untoldBytes <= limitBytes + extraBytes;
    },
    read: (bytes) => {
      unreadBytes -= bytes;
      const ofExtra = Math.min(bytes, extraBytes);
      extraBytes -= ofExtra;
      untoldBytes += bytes - ofExtra;
      if (untoldBytes < limitBytes * grantedPart) return 0;
      const granted = untoldBytes;
      untoldBytes = 0;
      return granted;
    },
    expect: (bytes) => {
      const wanted = Math.min(bytes, windowBytesMax);
      if (wanted - unreadBytes <= limitBytes - (unreadBytes + untoldBytes)) return 0;
      extraBytes = Math.min(wanted, windowBytesMax - limitBytes);
      return extraBytes;
    },
  };
}
