/** Reads Linux's /proc to find other processes on this machine. Without /proc it finds none. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

const folder = '/proc';
/** A process can make its environment arbitrarily large, so only this much is searched. */
const environmentBytesMax = 262_144;
const scratch = Buffer.allocUnsafe(environmentBytesMax);

export function processNumbers(): readonly number[] {
  return orNone(() => readdirSync(folder))
    .map(Number)
    .filter(Number.isInteger);
}

/**
 * Returns the last id assigned to a process or thread in this PID namespace. Ids are assigned in ascending order and
 * wrap around.
 */
export function lastNumber(): number | undefined {
  const [line = ''] = orNone(() => [readFileSync(`${folder}/loadavg`, 'latin1')]);
  const last = Number(line.trim().split(' ').at(-1));
  return Number.isInteger(last) && last > 0 ? last : undefined;
}

/** Also true for the id of a thread. */
export const exists = (pid: number): boolean => existsSync(`${folder}/${pid}`);

/**
 * Returns a variable's value in the initial environment of a process; undefined if it is not set or may not be read.
 */
export function startedWith(pid: number, name: string): string | undefined {
  const [read = 0] = orNone(() => [readInto(scratch, `${folder}/${pid}/environ`)]);
  const start = valueStart(scratch.subarray(0, read), `${name}=`);
  if (start === undefined) return undefined;
  const end = scratch.indexOf(0, start);
  return scratch.toString('latin1', start, end === -1 || end > read ? read : end);
}

function valueStart(environment: Buffer, assigned: string): number | undefined {
  if (environment.indexOf(assigned) === 0) return assigned.length;
  const at = environment.indexOf(`\0${assigned}`);
  return at === -1 ? undefined : at + 1 + assigned.length;
}

function readInto(buffer: Buffer, path: string): number {
  const descriptor = openSync(path, 'r');
  try {
    return readSync(descriptor, buffer, 0, buffer.length, 0);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns at most `max` descendants, without those whose parent has exited. */
export function descendantsOf(pid: number, max: number): readonly number[] {
  const found: number[] = [];
  for (let next: number | undefined = pid, at = 0; next !== undefined && found.length < max; at += 1) {
    found.push(...childrenOf(next));
    next = found[at];
  }
  return found.slice(0, max);
}

/** /proc lists the children of each thread separately. */
const childrenOf = (pid: number): readonly number[] =>
  orNone(() => readdirSync(`${folder}/${pid}/task`)).flatMap((thread) =>
    orNone(() => readFileSync(`${folder}/${pid}/task/${thread}/children`, 'latin1').trim().split(' '))
      .filter((child) => child !== '')
      .map(Number),
  );

/** Treats errors as no result: a process may exit at any moment or belong to another user. */
function orNone<Seen>(look: () => readonly Seen[]): readonly Seen[] {
  try {
    return look();
  } catch {
    return [];
  }
}
