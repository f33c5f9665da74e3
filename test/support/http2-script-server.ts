/**
 * An HTTP/2 server below any HTTP library: it plays recorded bytes, and understands no more of the client's frames than
 * it has to.
 */
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { type Certificate, localhostCertificate } from './certificate.ts';
import { type SentFrame, SentFrames } from './sent-frames.ts';
import { listenWith, type RunningServer } from './tcp-server.ts';

export type Http2Action = { readonly sendBase64?: string; readonly repeat?: number; readonly sleepMs?: number };

export type Http2Script = {
  /** Played as soon as a client connects. */
  readonly hello?: readonly Http2Action[];
  readonly noSettingsAck?: boolean;
  /** Played when the first request of the connection has ended. */
  readonly reply?: readonly Http2Action[];
  /** Played when its second request has ended. */
  readonly again?: readonly Http2Action[];
  /** After the reply. Absent: it holds the connection. */
  readonly then?: 'hold' | 'close' | 'reset' | 'close-at-once' | 'reset-at-once';
};

export type Http2ScriptServer = RunningServer & {
  /** Resolves once all that clients who have left have sent is read. */
  readonly whenRead: () => Promise<void>;
  /** Whether a whole request has arrived. */
  readonly isRequested: () => boolean;
  /** The frames of each connection that ask for something: settings, the first window, and requests. */
  readonly sent: () => readonly (readonly SentFrame[])[];
};

const host = '127.0.0.1';
/** How long it takes at most until what a client has sent before it left is read. */
const readMsMax = 500;
/** From the last byte to the end of the connection. */
const beforeEndMs = 15;

/** One script for each connection; those that follow have the last one. */
export async function startHttp2Script(
  scripts: Http2Script | readonly [Http2Script, ...Http2Script[]],
  isSecure: boolean,
): Promise<Http2ScriptServer> {
  let requested = false;
  const sent: SentFrames[] = [];
  const left: Promise<unknown>[] = [];
  /** The TCP sockets by the client's port: a TLS socket cannot be reset. */
  const below = new Map<number | undefined, Socket>();
  const serve = (socket: Socket) => {
    const { remotePort } = socket;
    left.push(new Promise((resolve) => socket.once('end', resolve).once('close', resolve)));
    const frames = new SentFrames();
    const all: readonly Http2Script[] = 'length' in scripts ? scripts : [scripts];
    const script = all[Math.min(sent.push(frames), all.length) - 1] ?? {};
    const replies = [
      () => answer(socket, script, () => below.get(remotePort)?.resetAndDestroy()),
      () => play(socket, script.again),
    ];
    const taken = {
      frame: (frame: Buffer) => frames.add(frame),
      requested: () => {
        requested = true;
        void replies.shift()?.();
      },
    };
    void play(socket, script.hello).then(() => follow(socket, script, taken));
  };
  const server = isSecure
    ? createTlsServer({ ...certificate(), ALPNProtocols: ['h2'], allowHalfOpen: true }, serve)
    : createServer({ allowHalfOpen: true }, serve);
  server.on('connection', (socket: Socket) => {
    // As Go's listeners do: what is left unsent when the connection is reset is lost.
    socket.setNoDelay();
    below.set(socket.remotePort, socket);
  });
  server.on('tlsClientError', () => undefined);
  const listening = await listenWith(server, host);
  const whenRead = async () => void (await Promise.race([Promise.all(left), sleep(readMsMax)]));
  return { ...listening, whenRead, isRequested: () => requested, sent: () => sent.map((each) => each.frames) };
}

let made: Certificate | undefined;

function certificate(): Certificate {
  made ??= localhostCertificate();
  return made;
}

async function play(socket: Socket, actions: readonly Http2Action[] = []): Promise<void> {
  for (const { sendBase64, repeat = 1, sleepMs } of actions) {
    if (socket.destroyed) return;
    if (sleepMs !== undefined) await sleep(sleepMs);
    if (sendBase64 === undefined) continue;
    const bytes = Buffer.from(sendBase64, 'base64');
    for (let time = 0; time < repeat && !socket.destroyed; time += 1) {
      if (!socket.write(bytes)) await drained(socket);
    }
  }
}

const drained = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', resolve);
  });

async function answer(socket: Socket, { reply, then = 'hold' }: Http2Script, reset: () => void): Promise<void> {
  await play(socket, reply);
  if (then === 'close' || then === 'reset') await sleep(beforeEndMs);
  if (then === 'close' || then === 'close-at-once') socket.end();
  // What is not yet sent would be lost.
  else if (then !== 'hold') socket.write('', reset);
}

const prefaceBytes = 24;
const headerBytes = 9;
const type = { data: 0, headers: 1, settings: 4, ping: 6 };
const flags = { endStream: 1, ack: 1 };
const ackOfSettings = Buffer.from('000000040100000000', 'hex');

type Taken = { readonly frame: (frame: Buffer) => void; readonly requested: () => void };

/** Reads the client's frames: acknowledges SETTINGS, answers PING, and reports when a request has ended. */
function follow(socket: Socket, { noSettingsAck }: Http2Script, taken: Taken): void {
  eachFrame(socket, (frame) => {
    taken.frame(frame);
    const [kind, flag] = [frame[3], frame[4] ?? 0];
    const isAck = (flag & flags.ack) !== 0;
    if (kind === type.settings && !isAck && !noSettingsAck) socket.write(ackOfSettings);
    if (kind === type.ping && !isAck) {
      frame[4] = flags.ack;
      socket.write(frame);
    }
    const mayEnd = kind === type.data || kind === type.headers;
    if (mayEnd && (flag & flags.endStream) !== 0) taken.requested();
  });
}

/** Calls back with each whole frame that a client sends behind its preface, header included. */
export function eachFrame(socket: Socket, take: (frame: Buffer) => void): void {
  let unread: Buffer = Buffer.alloc(0);
  let toSkip = prefaceBytes;
  socket.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes]);
    const skipped = Math.min(toSkip, unread.length);
    toSkip -= skipped;
    unread = unread.subarray(skipped);
    while (toSkip === 0 && unread.length >= headerBytes) {
      const length = headerBytes + unread.readUIntBE(0, 3);
      if (unread.length < length) return;
      take(Buffer.from(unread.subarray(0, length)));
      unread = unread.subarray(length);
    }
  });
}
