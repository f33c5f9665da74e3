/**
 * The certificates that a server sent, read from the bytes of its handshake. Node shows only those that OpenSSL takes
 * for issuers of one another (and loses memory where it shows the others), while Go parses all of them.
 *
 * TLS 1.2 sends them in the clear. TLS 1.3 encrypts them with keys that follow from the secret which OpenSSL logs
 * (RFC 8446, sections 5.2 and 7.3; the log is Node's `keylog` event).
 */
import { createDecipheriv, createHmac } from 'node:crypto';

const recordHeaderBytes = 5;
const messageHeaderBytes = 4;
const tagBytes = 16;

const recordTypes = { handshake: 22, applicationData: 23 } as const;
const messageTypes = { serverHello: 2, certificate: 11 } as const;

const secretLine = /^SERVER_HANDSHAKE_TRAFFIC_SECRET [0-9a-f]+ ([0-9a-f]+)/;

/** The secret that the server's handshake is encrypted with, if this line of the log has it. */
export function handshakeSecret(line: Buffer): Buffer | undefined {
  const hex = secretLine.exec(line.toString('latin1'))?.[1];
  return hex === undefined ? undefined : Buffer.from(hex, 'hex');
}

/**
 * DER, in the order in which they were sent; undefined: the bytes end before them, or are none of TLS. `secret`: absent
 * in TLS 1.2.
 */
export function sentCertificates(bytes: Buffer, secret: Buffer | undefined): readonly Buffer[] | undefined {
  try {
    const message = certificateMessage(bytes, secret);
    return message && listed(message, secret !== undefined);
  } catch {
    // A read beyond the end, or bytes that do not decrypt: OpenSSL has its own error for those.
    return undefined;
  }
}

function certificateMessage(bytes: Buffer, secret: Buffer | undefined): Buffer | undefined {
  let cipher: RecordCipher | undefined;
  let messages: Buffer = Buffer.alloc(0);
  for (let at = 0; at + recordHeaderBytes < bytes.length; ) {
    const header = bytes.subarray(at, at + recordHeaderBytes);
    at += recordHeaderBytes + header.readUInt16BE(3);
    const record = bytes.subarray(at - header.readUInt16BE(3), at);
    const plain =
      header[0] === recordTypes.applicationData && cipher
        ? cipher.open(header, record)
        : header[0] === recordTypes.handshake
          ? record
          : undefined;
    if (!plain) continue;
    messages = Buffer.concat([messages, plain]);
    for (let message = firstMessage(messages); message; message = firstMessage(messages)) {
      messages = messages.subarray(message.length);
      if (message[0] === messageTypes.certificate) return message;
      // A request to try again with another group comes as such a message too; the one that counts is the last.
      if (message[0] === messageTypes.serverHello && secret) cipher = new RecordCipher(suiteOf(message), secret);
    }
  }
  return undefined;
}

function firstMessage(messages: Buffer): Buffer | undefined {
  if (messages.length < messageHeaderBytes) return undefined;
  const length = messageHeaderBytes + messages.readUIntBE(1, 3);
  return messages.length < length ? undefined : messages.subarray(0, length);
}

/** Behind the version, the random bytes and the session's ID. */
function suiteOf(hello: Buffer): number {
  const sessionAt = messageHeaderBytes + 2 + 32;
  return hello.readUInt16BE(sessionAt + 1 + hello.readUInt8(sessionAt));
}

type Suite = { readonly name: 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305'; readonly keyBytes: number };

const suites: Readonly<Record<number, Suite>> = {
  4865: { name: 'aes-128-gcm', keyBytes: 16 },
  4866: { name: 'aes-256-gcm', keyBytes: 32 },
  4867: { name: 'chacha20-poly1305', keyBytes: 32 },
};

const nonceBytes = 12;
const sha384Bytes = 48;

/** Decrypts a server's records, which must be given in order. */
class RecordCipher {
  readonly #suite: Suite | undefined;
  readonly #key: Buffer;
  readonly #iv: Buffer;
  #sequence = 0;

  constructor(suite: number, secret: Buffer) {
    this.#suite = suites[suite];
    this.#key = expand(secret, 'key', this.#suite?.keyBytes ?? 0);
    this.#iv = expand(secret, 'iv', nonceBytes);
  }

  /** The handshake messages of a record; undefined: it has something else. */
  open(header: Buffer, record: Buffer): Buffer | undefined {
    if (!this.#suite) return undefined;
    const nonce = Buffer.from(this.#iv);
    nonce.writeUInt32BE((nonce.readUInt32BE(nonceBytes - 4) ^ this.#sequence) >>> 0, nonceBytes - 4);
    this.#sequence += 1;
    // The two kinds of cipher have types of their own, which differ in nothing that is used here.
    const name = this.#suite.name as 'chacha20-poly1305';
    const decipher = createDecipheriv(name, this.#key, nonce, { authTagLength: tagBytes });
    decipher.setAAD(header, { plaintextLength: record.length - tagBytes });
    decipher.setAuthTag(record.subarray(-tagBytes));
    const inner = Buffer.concat([decipher.update(record.subarray(0, -tagBytes)), decipher.final()]);
    const typeAt = inner.findLastIndex((byte) => byte !== 0);
    return inner[typeAt] === recordTypes.handshake ? inner.subarray(0, typeAt) : undefined;
  }
}

/** HKDF-Expand-Label without a context, of at most one hash. */
function expand(secret: Buffer, label: string, bytes: number): Buffer {
  const name = `tls13 ${label}`;
  const info = Buffer.concat([Buffer.of(0, bytes, name.length), Buffer.from(name), Buffer.of(0, 1)]);
  const hash = secret.length === sha384Bytes ? 'sha384' : 'sha256';
  return createHmac(hash, secret).update(info).digest().subarray(0, bytes);
}

/** TLS 1.3 has a context before the list and extensions behind each certificate. */
function listed(message: Buffer, isTls13: boolean): readonly Buffer[] {
  const found: Buffer[] = [];
  let at = messageHeaderBytes + (isTls13 ? 1 + message.readUInt8(messageHeaderBytes) : 0) + 3;
  while (at < message.length) {
    const length = message.readUIntBE(at, 3);
    found.push(message.subarray(at + 3, at + 3 + length));
    at += 3 + length;
    if (isTls13) at += 2 + message.readUInt16BE(at);
  }
  return found;
}
