/**
 * Where an HTTPS probe ends otherwise than kubelet's, on purpose: difference 33 of docs/semantics.md, restated here by
 * the vectors it is about. A certificate that Go takes and OpenSSL does not is a prober error, never a failure.
 */
import type { ByRule, Vector } from './runner.ts';

const certificatesOfOpenssl = 33;

/** By what OpenSSL does not take. */
const refused: Readonly<Record<string, readonly string[]>> = {
  'something behind the last field that Go reads': [
    'certificates/more-behind-the-signature',
    'certificates/more-behind-the-extensions',
    'certificates/subject-more-behind-the-value',
    'certificates/validity-three-times',
    'certificates/rsa-key-more-behind-the-exponent',
    'certificates/random-015',
    'certificates/random-049',
    'certificates/random-059',
    'certificates/random-087',
  ],
  'a UTCTime without seconds': [
    'certificates/validity-utctime-without-seconds',
    'certificates/random-081',
    'certificates/random-093',
  ],
  'a unique identifier that is no bit string': ['certificates/random-057', 'certificates/random-099'],
  'in TLS 1.2, an elliptic key whose key usage has no digital signature': [
    'certificates/random-023',
    'certificates/random-068',
    'certificates/random-086',
    'tls/1.2-key-usage-without-digital-signature',
  ],
  'in TLS 1.2, a key of P-224': ['certificates/elliptic-key-p-224-tls-1.2'],
};

const named: ReadonlySet<string> = new Set(Object.values(refused).flat());

export const isRefusedByOpenssl = ({ name }: Vector): boolean => named.has(name);

export const byOpenssl: ByRule = { kind: 'byRule', rules: [certificatesOfOpenssl] };
