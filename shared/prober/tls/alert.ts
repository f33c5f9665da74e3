/** The alerts by which a server ends TLS, in Go's words (crypto/tls/alert.go). */

/** OpenSSL's codes for them, as `ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE` and `ERR_SSL_TLSV1_UNRECOGNIZED_NAME`. */
const alertCode = /^ERR_SSL_(?:SSL\/TLS|SSLV3|TLSV1|TLSV13)_(?:ALERT_)?(\w+)$/;

/** Where Go's words are not OpenSSL's. */
const words: Readonly<Record<string, string>> = {
  BAD_RECORD_MAC: 'bad record MAC',
  CERTIFICATE_REVOKED: 'revoked certificate',
  CERTIFICATE_EXPIRED: 'expired certificate',
  CERTIFICATE_UNKNOWN: 'unknown certificate',
  UNKNOWN_CA: 'unknown certificate authority',
  DECODE_ERROR: 'error decoding message',
  DECRYPT_ERROR: 'error decrypting message',
  PROTOCOL_VERSION: 'protocol version not supported',
  INSUFFICIENT_SECURITY: 'insufficient security level',
  USER_CANCELLED: 'user canceled',
};

/** `code`: an error's; undefined: it is no alert. */
export function alertText(code: string): string | undefined {
  const alert = alertCode.exec(code)?.[1];
  return alert && `remote error: tls: ${words[alert] ?? inWords(alert)}`;
}

/** Of a code in capitals. */
export const inWords = (code: string): string => code.replaceAll('_', ' ').toLowerCase();
