/** Memory of a running process, as the kernel counts it. */
import { readFileSync } from 'node:fs';

/** Bytes: resident now, resident at most so far, and how much of what is resident no file holds. */
export type Memory = { readonly rss: number; readonly highest: number; readonly anonymous: number };

const kib = 1_024;
/** Bytes. */
export const mib = kib * kib;

/** @throws if there is no such process, and elsewhere than on Linux */
export function memoryOf({ pid }: { readonly pid?: number | undefined }): Memory {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * kib;
  return { rss: bytes('VmRSS'), highest: bytes('VmHWM'), anonymous: bytes('RssAnon') };
}
