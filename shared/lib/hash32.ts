/** A hash that stays the same on every machine. */
import { createHash } from 'node:crypto';

/** The first 32 bits of SHA-256 of the text, as an unsigned number. */
export const hash32 = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE(0);
