/**
 * Flow control of one stream: what the peer may still send, and when to grant more. Source: grpc-go,
 * internal/transport/flowcontrol.go (inFlow). Pure.
 */
import { windowBytesMax } from './settings.ts';

export type ReceiveWindow = {
  /** Records received bytes. Returns false if they exceed the grant. */
  readonly arrived: (bytes: number) => boolean;
  /** Records bytes that the application has read. Returns how many bytes to grant now, or 0. */
  readonly read: (bytes: number) => number;
  /** Announces a read of this many bytes. Returns how many bytes to grant now, so that they can arrive. */
  readonly expect: (bytes: number) => number;
};

/** A grant is sent once it reaches this fraction of the window. */
const grantedPart = 1 / 4;

export function receiveWindow(limitBytes: number): ReceiveWindow {
  let unreadBytes = 0;
  let ungrantedBytes = 0;
  /** Granted beyond the limit for one large message. */
  let extraBytes = 0;
  return {
    arrived: (bytes) => {
      unreadBytes += bytes;
      return unreadBytes + ungrantedBytes <= limitBytes + extraBytes;
    },
    read: (bytes) => {
      unreadBytes -= bytes;
      const ofExtra = Math.min(bytes, extraBytes);
      extraBytes -= ofExtra;
      ungrantedBytes += bytes - ofExtra;
      if (ungrantedBytes < limitBytes * grantedPart) return 0;
      const granted = ungrantedBytes;
      ungrantedBytes = 0;
      return granted;
    },
    expect: (bytes) => {
      const wanted = Math.min(bytes, windowBytesMax);
      if (wanted - unreadBytes <= limitBytes - (unreadBytes + ungrantedBytes)) return 0;
      extraBytes = Math.min(wanted, windowBytesMax - limitBytes);
      return extraBytes;
    },
  };
}
