/**
 * Encodes a DNS query: one question, with recursion desired and EDNS0, as Go's resolver sends it (net,
 * dnsclient_unix.go).
 */

/** Record types (RFC 1035 and 3596). */
export const recordType = { a: 1, cname: 5, aaaa: 28, opt: 41 } as const;
export const classInternet = 1;
export const headerBytes = 12;

/**
 * The size announced by EDNS0. Answers of this size are neither fragmented nor truncated at 512 bytes. Source:
 * dnsflagday.net/2020, Go's maxDNSPacketSize.
 */
export const datagramBytesMax = 1232;

const labelBytesMax = 63;
/** Including the dots and the trailing one. */
const nameBytesMax = 254;
const recursionDesired = 0x0100;

export type Question = {
  /** In lower case, without the trailing dot. */
  readonly name: string;
  readonly type: typeof recordType.a | typeof recordType.aaaa;
};

/** Returns the message with id 0, or undefined if the name cannot be encoded. */
export function encodeQuery({ name, type }: Question): Buffer | undefined {
  const labels = name.split('.').map((label) => Buffer.from(label, 'latin1'));
  if (name.length >= nameBytesMax || !labels.every(({ length }) => length > 0 && length <= labelBytesMax))
    return undefined;
  const header = Buffer.alloc(headerBytes);
  header.writeUInt16BE(recursionDesired, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 10);
  const encodedName = labels.flatMap((label) => [Buffer.from([label.length]), label]);
  const question = Buffer.from([0, 0, type, 0, classInternet]);
  return Buffer.concat([header, ...encodedName, question, edns0]);
}

/** An OPT record: the root as its name, the datagram size as its class, and no options. */
const edns0 = Buffer.from([0, 0, recordType.opt, datagramBytesMax >> 8, datagramBytesMax & 0xff, 0, 0, 0, 0, 0, 0]);
