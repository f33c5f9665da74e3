/** A ZIP archive of one file, not compressed: what a Lambda function is made of. */
import { crc32 } from 'node:zlib';

export function zipOf(name: string, content: string): Buffer {
  const data = Buffer.from(content);
  const common = Buffer.alloc(26);
  common.writeUInt16LE(20, 0);
  common.writeUInt32LE(crc32(data), 10);
  common.writeUInt32LE(data.length, 14);
  common.writeUInt32LE(data.length, 18);
  common.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([signature(0x04034b50), common, Buffer.from(name), data]);
  const versionMadeBy = Buffer.from([20, 3]);
  const rest = Buffer.alloc(14);
  // Permissions of the file, as Unix has them: rw-r--r--.
  rest.writeUInt32LE(0o100644 * 65_536, 6);
  const central = Buffer.concat([signature(0x02014b50), versionMadeBy, common, rest, Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, signature(0x06054b50), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
