/**
 * Preloaded (`--import`): the wall clock of the process is ahead by the milliseconds in a file, and set again whenever
 * the file changes. What measures durations is not.
 */
import { readFileSync } from 'node:fs';

/** Names the variable with the path of the file. */
const clockVariable = 'PROBELET_TEST_CLOCK';
const lookMs = 50;

const path = process.env[clockVariable] ?? '';
const realNow = Date.now;
let aheadMs = 0;

function look(): void {
  aheadMs = Number(readFileSync(path, 'utf8'));
}

look();
setInterval(look, lookMs).unref();
Date.now = () => realNow() + aheadMs;
