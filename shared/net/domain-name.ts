/** Decides which names Go's resolver sends to a DNS server. Source: net, dnsclient.go. */

/** Without the optional trailing dot. */
const nameLengthMax = 253;
const labelLengthMax = 63;
const label = /^[A-Za-z0-9_-]+$/;

/**
 * Accepts labels of letters, digits, underscores and inner hyphens, but no name of digits and dots alone. To Go,
 * `127.1` and `2130706433` are neither addresses nor names, although the C library reads both as 127.0.0.1.
 */
export function isDomainName(text: string): boolean {
  const name = withoutRootDot(text);
  if (name.length > nameLengthMax || !/[A-Za-z_-]/.test(name)) return false;
  return name.split('.').every(isLabel);
}

const isLabel = (text: string): boolean =>
  text.length <= labelLengthMax && label.test(text) && !text.startsWith('-') && !text.endsWith('-');

/** Returns the name in the form that DNS queries and the cache use. */
export const withoutRootDot = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);
