/** A trial in a process of its own: what is replaced there is replaced for no other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { Trial, Tried } from './trial.ts';

const childPath = fileURLToPath(new URL('./child.ts', import.meta.url));

/** A world that goes round in circles; the longest trial takes two minutes on a busy machine. */
const timeoutMs = 600_000;

/** What the child reported; a string: why it reported nothing. */
export async function runTrial(trial: Trial): Promise<Tried | string> {
  const child = spawn(process.execPath, [childPath, JSON.stringify(trial)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  const [output, errors, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (code !== 0) return `its process ended with ${signal ?? code}: ${errors.trim().slice(-excerptCharacters)}`;
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Tried;
}

const excerptCharacters = 800;
