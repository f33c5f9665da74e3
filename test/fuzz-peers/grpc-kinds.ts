/** Peers that misuse the messages of gRPC: lengths, unknown fields, groups. Misuse of HTTP/2 is in http2-kinds.ts. */
import type { Random } from '../../shared/lib/random.ts';
import { answer, frame, frameType, settingsFrame, stream, trailers } from './http2-frames.ts';
import { filled, kindsOf, once, oneOf, type Replies, type Reply } from './kind.ts';

/** The largest message that a gRPC client accepts, less its framing. */
const bytesMax = 4_000_000;
const payloadBytes = 8 * 1024;

function prefixOf(length: number): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(length, 1);
  return prefix;
}

/** A message of `unit` again and again, in DATA frames. `claimed`: what its prefix says; absent: the truth. */
const message =
  (of: (random: Random) => { readonly unit: string; readonly claimed?: number; readonly frameBytes?: number }) =>
  (bytes: number, random: Random): Reply => {
    const { unit, claimed, frameBytes = payloadBytes } = of(random);
    const inFrame = Math.max(1, Math.floor(Math.min(frameBytes, bytes) / unit.length));
    const frames = Math.max(1, Math.floor(bytes / (inFrame * unit.length)));
    const data = frame(frameType.data, unit.repeat(inFrame), { stream });
    const length = frames * inFrame * unit.length;
    return {
      hello: [once(settingsFrame)],
      pieces: [
        once(answer),
        once(frame(frameType.data, prefixOf(claimed ?? length), { stream })),
        ...filled(data, frames * data.length),
        once(trailers),
      ],
    };
  };

const messages: Replies = {
  'unknown numbers': message((random) => ({ unit: oneOf(random, ['\x18\x01', '\x18\xff\xff\x01', '\x08\x01']) })),
  'unknown texts': message((random) => ({ unit: oneOf(random, ['\x1a\0', `\x1a\x7f${'x'.repeat(127)}`]) })),
  'groups in groups': message(() => ({ unit: '\x1b' })),
  'groups side by side': message(() => ({ unit: '\x1b\x1c' })),
  'numbers that do not end': message(() => ({ unit: '\xff' })),
  'a length of 4 GiB': message(() => ({ unit: '\x18\x01', claimed: 2 ** 32 - 1 })),
  'a length of nothing': message(() => ({ unit: '\0\0\0\0\0', claimed: 0 })),
  'frames of a few bytes': message(() => ({ unit: '\x18\x01', frameBytes: 2 })),
};

export const grpcKinds = kindsOf('grpc: ', messages, { transport: 'grpc', keepsWindow: true, bytesMax });
