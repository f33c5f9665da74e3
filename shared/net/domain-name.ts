/** Which texts Go's resolver asks a DNS server about. Source: net, dnsclient.go. */

/** Without the dot that may end it. */
const nameLengthMax = 253;
const labelLengthMax = 63;
const label = /^[A-Za-z0-9_-]+$/;

/**
 * Labels of letters, digits, underscores and inner hyphens, and not digits alone: to Go `127.1` and `2130706433` are neither addresses nor
 * names, although the C library takes them for 127.0.0.1.
 */
export function isDomainName(text: string): boolean {
  const name = withoutRootDot(text);
  if (name.length > nameLengthMax || !/[A-Za-z_-]/.test(name)) return false;
  return name.split('.').every(isLabel);
}

const isLabel = (text: string): boolean =>
  text.length <= labelLengthMax && label.test(text) && !text.startsWith('-') && !text.endsWith('-');

/** A name as DNS and a cache of answers know it. */
export const withoutRootDot = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);
