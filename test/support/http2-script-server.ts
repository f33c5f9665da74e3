/**
 * An HTTP/2 server below any HTTP library: it plays recorded bytes, and understands no more of the client's frames than
 * it has to.
 */
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';
import { type Certificate, localhostCertificate } from './certificate.ts';
import { listenWith, type RunningServer } from './tcp-server.ts';

export type Http2Action = { readonly sendBase64?: string; readonly repeat?: number; readonly sleepMs?: number };

export type Http2Script = {
  /** Played as soon as somebody connects. */
  readonly hello?: readonly Http2Action[];
  readonly noSettingsAck?: boolean;
  /** Played when the client's stream 1 has ended. */
  readonly reply?: readonly Http2Action[];
  /** Absent: it holds the connection. */
  readonly then?: 'hold' | 'close' | 'reset';
};

export type Http2ScriptServer = RunningServer & {
  /** Whether a whole request has arrived. */
  readonly isRequested: () => boolean;
};

const host = '127.0.0.1';
/** From the last byte to the end of the connection. */
const beforeEndMs = 15;

export async function startHttp2Script(script: Http2Script, isSecure: boolean): Promise<Http2ScriptServer> {
  let requested = false;
  /** The TCP sockets by the client's port: a TLS socket cannot be reset. */
  const below = new Map<number | undefined, Socket>();
  const serve = (socket: Socket) => {
    const { remotePort } = socket;
    const reply = () => {
      requested = true;
      void answer(socket, script, () => below.get(remotePort)?.resetAndDestroy());
    };
    void play(socket, script.hello).then(() => follow(socket, script, reply));
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
  return { ...listening, isRequested: () => requested };
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
  if (then === 'hold') return;
  await sleep(beforeEndMs);
  if (then === 'close') socket.end();
  else reset();
}

const prefaceBytes = 24;
const headerBytes = 9;
const type = { data: 0, headers: 1, settings: 4, ping: 6 };
const flags = { endStream: 1, ack: 1 };
const ackOfSettings = Buffer.from('000000040100000000', 'hex');

/** Reads the client's frames: acknowledges SETTINGS, answers PING, and tells when stream 1 has ended. */
function follow(socket: Socket, { noSettingsAck }: Http2Script, ended: () => void): void {
  let unread: Buffer = Buffer.alloc(0);
  let toSkip = prefaceBytes;
  let isEnded = false;
  const take = (frame: Buffer) => {
    const [kind, flag, stream] = [frame[3], frame[4] ?? 0, frame.readUInt32BE(5)];
    const isAck = (flag & flags.ack) !== 0;
    if (kind === type.settings && !isAck && !noSettingsAck) socket.write(ackOfSettings);
    if (kind === type.ping && !isAck) {
      frame[4] = flags.ack;
      socket.write(frame);
    }
    const mayEnd = kind === type.data || kind === type.headers;
    if (!mayEnd || stream !== 1 || (flag & flags.endStream) === 0 || isEnded) return;
    isEnded = true;
    ended();
  };
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
