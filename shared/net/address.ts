/** Address literals in every spelling that the system's own resolver takes, so that none of them slips past the dial policy. */
import { isIP } from 'node:net';

/**
 * `host` as an address literal in its usual spelling, or undefined when it is a name. Like inet_aton: `2130706433`, `0x7f000001`,
 * `0177.0.0.1` and `127.1` are all 127.0.0.1.
 */
export function addressLiteral(host: string): string | undefined {
  if (isIP(host) !== 0) return host;
  const first = host.charCodeAt(0);
  return first >= digitZero && first <= digitNine ? inetAton(host) : undefined;
}

const digitZero = 0x30;
const digitNine = 0x39;
const partsMax = 4;

function inetAton(text: string): string | undefined {
  const parts = text.split('.', partsMax + 1);
  if (parts.length > partsMax) return undefined;
  const numbers = parts.map(inetNumber);
  const last = numbers.pop() ?? Number.NaN;
  if (!numbers.every((part) => part <= 255)) return undefined;
  const lastBytes = partsMax - numbers.length;
  if (!(last < 256 ** lastBytes)) return undefined;
  const tail = Array.from({ length: lastBytes }, (_, at) => Math.trunc(last / 256 ** (lastBytes - 1 - at)) % 256);
  return [...numbers, ...tail].join('.');
}

/** NaN when it is none. */
function inetNumber(part: string): number {
  if (/^0x[0-9a-f]{1,16}$/i.test(part)) return Number.parseInt(part.slice(2), 16);
  if (/^0[0-7]{0,16}$/.test(part)) return Number.parseInt(part, 8);
  return /^[1-9][0-9]{0,15}$/.test(part) ? Number.parseInt(part, 10) : Number.NaN;
}
