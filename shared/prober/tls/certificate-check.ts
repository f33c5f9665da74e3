/**
 * Whether Go's client would end the handshake because of the certificates that the server sent. All of them are parsed
 * in the handshakes that `BelowTls` reads, so in the first one with a server. Where OpenSSL reads by itself, the
 * server's own certificate is compared with those that are known by then; a new one is parsed alone, and the next
 * handshake with the server is read again.
 */
import { hash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { constructed, Der, tags } from '../../x509/der.ts';
import { serverCertificatesProblem } from '../../x509/server-certificates.ts';

/** How many certificates are known; the oldest is forgotten first. About 150 bytes each. */
const knownMax = 16_384;

export type CertificateCheck = {
  /** Why Go would end the handshake; undefined: it would not. */
  readonly problem: string | undefined;
  /** The server's own certificate is not known, so the others that came with it have not been parsed. */
  readonly isPartial: boolean;
};

const passed: CertificateCheck = { problem: undefined, isPartial: false };

/** One for each process. */
export function certificateChecks() {
  const known = new Set<string>();
  const remember = (digest: string) => {
    known.add(digest);
    if (known.size <= knownMax) return;
    const { value: oldest } = known.values().next();
    if (oldest !== undefined) known.delete(oldest);
  };
  return {
    /** After a full handshake. `sent`: what the server sent, if it was read. */
    check(secured: TLSSocket, sent: readonly Buffer[] | undefined): CertificateCheck {
      const own = sent?.[0] ?? ownCertificate(secured);
      if (!own) return { problem: undefined, isPartial: true };
      const digest = digestOf(own);
      if (!sent && known.has(digest)) return passed;
      const problem = serverCertificatesProblem(sent ?? [own]);
      if (sent && problem === undefined) remember(digest);
      return { problem, isPartial: !sent };
    },
  };
}

const digestOf = (certificate: Buffer): string => hash('sha256', certificate, 'base64');

/** Where OpenSSL writes the server's certificate in a session (ssl_asn1.c). */
const peerTag = constructed(3);
/** Node writes the name of the server before the session. */
const nameBytesMax = 512;

/** Taken from the session, it costs a third of what Node's description of a certificate does. */
function ownCertificate(secured: TLSSocket): Buffer | undefined {
  const session = secured.getSession();
  const parts = session && partsOf(session);
  for (let part = parts?.any(); part; part = parts?.any()) if (part.tag === peerTag) return part.content;
  return undefined;
}

/** The session is the sequence that ends where the bytes end. */
function partsOf(session: Buffer): Der | undefined {
  for (
    let at = session.indexOf(tags.sequence);
    at >= 0 && at < nameBytesMax;
    at = session.indexOf(tags.sequence, at + 1)
  ) {
    const found = new Der(session.subarray(at));
    const parts = found.into(tags.sequence);
    if (parts && found.isEmpty) return parts;
  }
  return undefined;
}
