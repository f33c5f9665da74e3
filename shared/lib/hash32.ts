/** A hash that is the same on every machine. */
import { createHash } from 'node:crypto';

/** Returns the first 32 bits of the text's SHA-256 as an unsigned integer. */
export const hash32 = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0);
