/** Parses a configuration that has changed in a thread of its own, which ends with it. */
import { extname } from 'node:path';
import type { ReadConfig } from '../../../shared/config/read-config.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { ParseConfig } from '../config/config-file.ts';
import { AskedThread } from './asked-thread.ts';

/** The costliest text of the largest size takes some seconds. */
const parseMsMax = 60_000;
const heapMbMax = 256;

/** This module and the thread's end alike: in `.ts` in a clone, in `.js` in the npm package. */
const url = new URL(`./config-thread${extname(import.meta.filename)}`, import.meta.url);

/** `signal`: of the end of the process. */
export const configParser =
  (clock: Clock, signal: AbortSignal): ParseConfig =>
  async (text) => {
    const thread = new AskedThread<string, ReadConfig>({ url, heapMbMax, msMax: parseMsMax, clock });
    const read = await thread.ask(text, signal);
    await thread.end();
    if (read.kind !== 'none') return read;
    return { kind: 'invalid', problems: [{ line: 1, column: 1, detail: read.detail }] };
  };
