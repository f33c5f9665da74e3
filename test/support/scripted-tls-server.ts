/**
 * TLS servers that OpenSSL does not make: they send any bytes as certificates. The handshake is written out here, as
 * little of it as a probe needs: X25519, AES-128-GCM with SHA-256, no client certificate, one request and one answer.
 * RFC 8446 (TLS 1.3), RFC 5246 and 8422 (TLS 1.2).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { listenWith, type RunningServer } from './tcp-server.ts';

export type ScriptedTls = {
  readonly version: '1.2' | '1.3';
  readonly key: 'p224' | 'p256' | 'rsa2048' | 'ed25519';
  /** DER in base64, the server's own first. A run of 0xab as long as its public key becomes that key. */
  readonly certificates: readonly string[];
  /** Of TLS 1.2; absent: yes. Without it the server does not know secure renegotiation (RFC 5746). */
  readonly renegotiationInfo?: boolean;
};

export function startScriptedTls(script: ScriptedTls, answer: string): Promise<RunningServer> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // A client that refuses the handshake leaves with an alert or without a word; both end the script.
    new Connection(socket, script).serve(answer).catch(() => socket.destroy());
  });
  return listenWith(server, '127.0.0.1');
}

const record = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23 } as const;
const message = {
  serverHello: 2,
  encryptedExtensions: 8,
  certificate: 11,
  serverKeyExchange: 12,
  serverHelloDone: 14,
  certificateVerify: 15,
  finished: 20,
} as const;
const x25519 = 0x001d;
const closeNotify = Buffer.of(1, 0);

/** Of one version: what an encrypted record looks like. */
type Cipher = {
  readonly seal: (type: number, plain: Buffer) => Buffer;
  readonly open: (type: number, body: Buffer) => Buffer;
};

class Connection {
  readonly #socket: Socket;
  readonly #script: ScriptedTls;
  readonly #chunks: AsyncIterator<Buffer>;
  #arrived: Buffer = Buffer.alloc(0);
  /** All handshake messages so far. */
  #transcript: Buffer = Buffer.alloc(0);
  #sending: Cipher | undefined;
  #receiving: Cipher | undefined;

  constructor(socket: Socket, script: ScriptedTls) {
    this.#socket = socket;
    this.#script = script;
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  async serve(answer: string): Promise<void> {
    const hello = parseHello(await this.#receive(record.handshake));
    await (this.#script.version === '1.3' ? this.#shake13(hello) : this.#shake12(hello));
    let request = '';
    while (!request.includes('\r\n\r\n')) request += (await this.#receive(record.applicationData)).toString('latin1');
    this.#send(record.applicationData, Buffer.from(answer));
    this.#send(record.alert, closeNotify);
    this.#socket.end();
  }

  async #shake13({ sessionId, share }: ClientHello): Promise<void> {
    const own = generateKeyPairSync('x25519');
    const extensions = [extension(43, uint(2, 0x0304)), extension(51, uint(2, x25519), vector(2, raw(own.publicKey)))];
    this.#say(message.serverHello, helloOf(0x1301, sessionId, extensions));
    const empty = Buffer.alloc(hashBytes);
    const early = hmac(empty, empty);
    const handshake = hmac(expand(early, 'derived', sha256()), secretWith(own.privateKey, share));
    const server = expand(handshake, 's hs traffic', this.#hash());
    this.#receiving = cipher13(expand(handshake, 'c hs traffic', this.#hash()));
    this.#sending = cipher13(server);
    this.#say(message.encryptedExtensions, vector(2));
    const entries = this.#certificates().map((der) => Buffer.concat([vector(3, der), vector(2)]));
    this.#say(message.certificate, vector(1), vector(3, ...entries));
    const signed = Buffer.concat([Buffer.from(`${' '.repeat(64)}${context13}\0`), this.#hash()]);
    this.#say(message.certificateVerify, this.#signature(signed));
    this.#say(message.finished, hmac(expand(server, 'finished', Buffer.alloc(0)), this.#hash()));
    const master = hmac(expand(handshake, 'derived', sha256()), empty);
    const [ours, theirs] = ['s ap traffic', 'c ap traffic'].map((label) =>
      cipher13(expand(master, label, this.#hash())),
    );
    this.#sending = ours;
    await this.#receive(record.handshake);
    this.#receiving = theirs;
  }

  async #shake12({ random, isExtended }: ClientHello): Promise<void> {
    const own = generateKeyPairSync('x25519');
    const extensions = [
      ...(this.#script.renegotiationInfo === false ? [] : [extension(0xff01, vector(1))]),
      ...(isExtended ? [extension(23)] : []),
    ];
    const suite = this.#script.key === 'rsa2048' ? 0xc02f : 0xc02b;
    const hello = helloOf(suite, Buffer.alloc(0), extensions);
    const serverRandom = hello.subarray(2, 2 + randomLength);
    this.#say(message.serverHello, hello);
    this.#say(message.certificate, vector(3, ...this.#certificates().map((der) => vector(3, der))));
    const params = Buffer.concat([Buffer.of(3), uint(2, x25519), vector(1, raw(own.publicKey))]);
    this.#say(message.serverKeyExchange, params, this.#signature(Buffer.concat([random, serverRandom, params])));
    this.#say(message.serverHelloDone);
    const share = (await this.#receive(record.handshake)).subarray(5);
    const secret = secretWith(own.privateKey, share);
    const master = isExtended
      ? prf(secret, 'extended master secret', this.#hash(), 48)
      : prf(secret, 'master secret', Buffer.concat([random, serverRandom]), 48);
    const block = prf(master, 'key expansion', Buffer.concat([serverRandom, random]), 40);
    await this.#receive(record.changeCipherSpec);
    this.#receiving = cipher12(block.subarray(0, 16), block.subarray(32, 36));
    await this.#receive(record.handshake);
    this.#send(record.changeCipherSpec, Buffer.of(1));
    this.#sending = cipher12(block.subarray(16, 32), block.subarray(36, 40));
    this.#say(message.finished, prf(master, 'server finished', this.#hash(), 12));
  }

  #certificates(): readonly Buffer[] {
    const key = keyOf(this.#script.key).bytes;
    return this.#script.certificates.map((text) => {
      const der = Buffer.from(text, 'base64');
      const at = der.indexOf(Buffer.alloc(key.length, keyPlace));
      if (at >= 0) key.copy(der, at);
      return der;
    });
  }

  #signature(bytes: Buffer): Buffer {
    const { scheme, sign } = keyOf(this.#script.key);
    return Buffer.concat([uint(2, scheme), vector(2, sign(bytes))]);
  }

  #hash(): Buffer {
    return sha256(this.#transcript);
  }

  #say(type: number, ...contents: readonly Buffer[]): void {
    const said = Buffer.concat([Buffer.of(type), vector(3, ...contents)]);
    this.#transcript = Buffer.concat([this.#transcript, said]);
    this.#send(record.handshake, said);
  }

  /** In as many records as it takes. */
  #send(type: number, plain: Buffer): void {
    for (let at = 0; at < plain.length; at += plainBytesMax) {
      const piece = plain.subarray(at, at + plainBytesMax);
      if (this.#sending) this.#socket.write(this.#sending.seal(type, piece));
      else this.#socket.write(Buffer.concat([headerOf(type, piece.length), piece]));
    }
  }

  /** One record of the kind, decrypted. TLS 1.3 sends a change of the cipher that means nothing. */
  async #receive(wanted: number): Promise<Buffer> {
    for (;;) {
      while (this.#arrived.length < 5 || this.#arrived.length < 5 + this.#arrived.readUInt16BE(3)) {
        const { value, done } = await this.#chunks.next();
        if (done) throw new Error('the client has left');
        this.#arrived = Buffer.concat([this.#arrived, value]);
      }
      const end = 5 + this.#arrived.readUInt16BE(3);
      const type = this.#arrived.readUInt8(0);
      const body = this.#arrived.subarray(5, end);
      this.#arrived = this.#arrived.subarray(end);
      if (type === record.changeCipherSpec && wanted !== type) continue;
      if (type === record.alert) throw new Error('the client sent an alert');
      const plain = this.#receiving && type !== record.changeCipherSpec ? this.#receiving.open(type, body) : body;
      if (wanted === record.handshake) this.#transcript = Buffer.concat([this.#transcript, plain]);
      return plain;
    }
  }
}

const plainBytesMax = 16_384;
const hashBytes = 32;
const randomLength = 32;
const context13 = 'TLS 1.3, server CertificateVerify';

const uint = (bytes: number, value: number): Buffer => {
  const made = Buffer.alloc(bytes);
  made.writeUIntBE(value, 0, bytes);
  return made;
};

/** Contents behind their length, which takes so many bytes. */
const vector = (lengthBytes: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  return Buffer.concat([uint(lengthBytes, content.length), content]);
};

const extension = (type: number, ...contents: readonly Buffer[]): Buffer =>
  Buffer.concat([uint(2, type), vector(2, ...contents)]);

const headerOf = (type: number, length: number): Buffer => Buffer.concat([Buffer.of(type, 3, 3), uint(2, length)]);

const helloOf = (suite: number, sessionId: Buffer, extensions: readonly Buffer[]): Buffer =>
  Buffer.concat([
    uint(2, 0x0303),
    randomBytes(randomLength),
    vector(1, sessionId),
    uint(2, suite),
    Buffer.of(0),
    vector(2, ...extensions),
  ]);

type ClientHello = {
  readonly random: Buffer;
  readonly sessionId: Buffer;
  /** Of X25519; empty: none. */
  readonly share: Buffer;
  /** Offers the extended master secret (RFC 7627). */
  readonly isExtended: boolean;
};

function parseHello(hello: Buffer): ClientHello {
  const random = hello.subarray(6, 6 + randomLength);
  let at = 6 + randomLength;
  const next = (lengthBytes: number): Buffer => {
    const from = at + lengthBytes;
    at = from + hello.readUIntBE(at, lengthBytes);
    return hello.subarray(from, at);
  };
  const sessionId = next(1);
  next(2);
  next(1);
  const extensions = pairs(next(2));
  const share = pairs((extensions.get(51) ?? Buffer.alloc(2)).subarray(2)).get(x25519) ?? Buffer.alloc(0);
  return { random, sessionId, share, isExtended: extensions.has(23) };
}

/** A list of types and contents, of two bytes each for type and length. */
function pairs(list: Buffer): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>();
  for (let at = 0; at + 4 <= list.length; at += 4 + list.readUInt16BE(at + 2))
    found.set(list.readUInt16BE(at), list.subarray(at + 4, at + 4 + list.readUInt16BE(at + 2)));
  return found;
}

const sha256 = (bytes: Buffer = Buffer.alloc(0)): Buffer => createHash('sha256').update(bytes).digest();
const hmac = (key: Buffer, bytes: Buffer): Buffer => createHmac('sha256', key).update(bytes).digest();

/** HKDF-Expand-Label. */
function expand(secret: Buffer, label: string, context: Buffer, bytes = hashBytes): Buffer {
  const info = [uint(2, bytes), vector(1, Buffer.from(`tls13 ${label}`)), vector(1, context), Buffer.of(1)];
  return hmac(secret, Buffer.concat(info)).subarray(0, bytes);
}

function prf(secret: Buffer, label: string, seed: Buffer, bytes: number): Buffer {
  const labelled = Buffer.concat([Buffer.from(label), seed]);
  const made: Buffer[] = [];
  for (let step = hmac(secret, labelled); made.length * hashBytes < bytes; step = hmac(secret, step))
    made.push(hmac(secret, Buffer.concat([step, labelled])));
  return Buffer.concat(made).subarray(0, bytes);
}

const x25519Prefix = Buffer.from('302a300506032b656e032100', 'hex');
const raw = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' }).subarray(x25519Prefix.length);

const secretWith = (privateKey: KeyObject, share: Buffer): Buffer =>
  diffieHellman({
    privateKey,
    publicKey: createPublicKey({ key: Buffer.concat([x25519Prefix, share]), format: 'der', type: 'spki' }),
  });

const tagBytes = 16;
const gcm = 'aes-128-gcm';

function sealed(key: Buffer, nonce: Buffer, aad: Buffer, plain: Buffer): Buffer {
  const cipher = createCipheriv(gcm, key, nonce).setAAD(aad);
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function opened(key: Buffer, nonce: Buffer, aad: Buffer, body: Buffer): Buffer {
  const decipher = createDecipheriv(gcm, key, nonce, { authTagLength: tagBytes }).setAAD(aad);
  decipher.setAuthTag(body.subarray(-tagBytes));
  return Buffer.concat([decipher.update(body.subarray(0, -tagBytes)), decipher.final()]);
}

function cipher13(secret: Buffer): Cipher {
  const key = expand(secret, 'key', Buffer.alloc(0), 16);
  const iv = expand(secret, 'iv', Buffer.alloc(0), 12);
  let sequence = 0;
  const nonce = () => Buffer.concat([iv.subarray(0, 8), uint(4, (iv.readUInt32BE(8) ^ sequence++) >>> 0)]);
  return {
    seal(type, plain) {
      const header = headerOf(record.applicationData, plain.length + 1 + tagBytes);
      return Buffer.concat([header, sealed(key, nonce(), header, Buffer.concat([plain, Buffer.of(type)]))]);
    },
    open(_, body) {
      const inner = opened(key, nonce(), headerOf(record.applicationData, body.length), body);
      if (inner.at(-1) === record.alert) throw new Error('the client sent an alert');
      return inner.subarray(0, -1);
    },
  };
}

function cipher12(key: Buffer, salt: Buffer): Cipher {
  let sequence = 0;
  const next = () => Buffer.concat([uint(4, 0), uint(4, sequence++)]);
  const aadOf = (counter: Buffer, type: number, length: number) => Buffer.concat([counter, headerOf(type, length)]);
  return {
    seal(type, plain) {
      const counter = next();
      const nonce = Buffer.concat([salt, counter]);
      const body = Buffer.concat([counter, sealed(key, nonce, aadOf(counter, type, plain.length), plain)]);
      return Buffer.concat([headerOf(type, body.length), body]);
    },
    open(type, body) {
      const counter = next();
      const nonce = Buffer.concat([salt, body.subarray(0, 8)]);
      const length = body.length - 8 - tagBytes;
      return opened(key, nonce, aadOf(counter, type, length), body.subarray(8));
    },
  };
}

/** Stands in a certificate where the server's public key belongs. */
const keyPlace = 0xab;

type ServerKey = {
  /** Of the public key: a point's coordinates, a modulus, or the key itself. */
  readonly bytes: Buffer;
  readonly scheme: number;
  readonly sign: (bytes: Buffer) => Buffer;
};

const keys = new Map<ScriptedTls['key'], ServerKey>();

function keyOf(kind: ScriptedTls['key']): ServerKey {
  const made = keys.get(kind) ?? makeKey(kind);
  keys.set(kind, made);
  return made;
}

function makeKey(kind: ScriptedTls['key']): ServerKey {
  switch (kind) {
    case 'p224':
    case 'p256': {
      const [namedCurve, length] = kind === 'p224' ? ['secp224r1', 56] : ['prime256v1', 64];
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve });
      const bytes = publicKey.export({ type: 'spki', format: 'der' }).subarray(-length);
      return { bytes, scheme: 0x0403, sign: (signed) => sign('sha256', signed, privateKey) };
    }
    case 'rsa2048': {
      const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const bytes = Buffer.from(publicKey.export({ format: 'jwk' }).n ?? '', 'base64url');
      const pss = { key: privateKey, padding: 6, saltLength: hashBytes };
      return { bytes, scheme: 0x0804, sign: (signed) => sign('sha256', signed, pss) };
    }
    case 'ed25519': {
      const { publicKey, privateKey } = generateKeyPairSync('ed25519');
      const bytes = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
      return { bytes, scheme: 0x0807, sign: (signed) => sign(null, signed, privateKey) };
    }
  }
}
