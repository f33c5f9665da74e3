/** Other processes of this machine, as Linux shows them under /proc. Where there is no such folder, nothing is seen. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';

const folder = '/proc';
/** More of an environment is not searched: a process can make its own as large as it likes. */
const environmentBytesMax = 262_144;
const scratch = Buffer.allocUnsafe(environmentBytesMax);

export function processNumbers(): readonly number[] {
  return orNone(() => readdirSync(folder))
    .map(Number)
    .filter(Number.isInteger);
}

/** The number that was given last to a process or a thread of this PID namespace; numbers are given in ascending order, and then again from the lowest. */
export function lastNumber(): number | undefined {
  const [line = ''] = orNone(() => [readFileSync(`${folder}/loadavg`, 'latin1')]);
  const last = Number(line.trim().split(' ').at(-1));
  return Number.isInteger(last) && last > 0 ? last : undefined;
}

/** Also true of a thread's number. */
export const exists = (pid: number): boolean => existsSync(`${folder}/${pid}`);

/** The value of a variable in the environment that a process was started with; undefined as well for what may not be read. */
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

/** Those whose parent is alive in between; at most `max`. */
export function descendantsOf(pid: number, max: number): readonly number[] {
  const found: number[] = [];
  for (let next: number | undefined = pid, at = 0; next !== undefined && found.length < max; at += 1) {
    found.push(...childrenOf(next));
    next = found[at];
  }
  return found.slice(0, max);
}

/** Each thread has the children that it started itself. */
const childrenOf = (pid: number): readonly number[] =>
  orNone(() => readdirSync(`${folder}/${pid}/task`)).flatMap((thread) =>
    orNone(() => readFileSync(`${folder}/${pid}/task/${thread}/children`, 'latin1').trim().split(' '))
      .filter((child) => child !== '')
      .map(Number),
  );

/** A process may end at any moment, and may be another user's. */
function orNone<Seen>(look: () => readonly Seen[]): readonly Seen[] {
  try {
    return look();
  } catch {
    return [];
  }
}
