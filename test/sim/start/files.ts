/**
 * The files of targets that a configuration names, as people and tools change them: replaced at once, written slowly,
 * or away for a while. What two versions have in common has to stay, whatever is seen of a file in between.
 */
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { Random } from '../../../shared/lib/random.ts';

export type ConfigFiles = {
  readonly folder: string;
  /** Of the configuration, from its folder. */
  readonly pattern: string;
  /** What happens to the files next. */
  step(): void;
  /** What each target of the files has to be now, and since when, monotonic ms. */
  expected(): readonly ExpectedTarget[];
};

export type ExpectedTarget = {
  readonly name: string;
  /** undefined: either is right. */
  readonly isThere: boolean | undefined;
  readonly sinceMs: number;
};

type Version = ReadonlySet<string>;
type FileState = {
  readonly path: string;
  readonly names: readonly string[];
  before: Version;
  now: Version;
  /** Since when each name is in it or not, and when something else happens to it. */
  readonly sinceMs: Map<string, number>;
  nextMs: number;
  /** What is written then. Absent: a new version begins. */
  rest?: (() => void) | undefined;
};

const fileCount = 2;
const namesPerFile = 3;
const firstPort = 9_101;
const changeEveryMs = { least: 600_000, most: 2_400_000 };
/** Less than a file has to rest before anything of it is removed. */
const partlyMsMax = 25_000;
/** Of the files' own times, since the epoch. */
const firstSecond = 2e9;

/** All targets that the files may have. */
export const fileTargets: readonly { readonly name: string; readonly port: number }[] = Array.from(
  { length: fileCount * namesPerFile },
  (_, index) => ({ name: `f${index}`, port: firstPort + index }),
);

type FilePorts = {
  readonly clock: Clock;
  readonly random: Random;
  /** Called after each change in the folder. */
  readonly changed: () => void;
};

export function configFiles(root: string, { clock, random, changed }: FilePorts) {
  const folder = join(root, 'config');
  mkdirSync(folder, { mode: 0o700 });
  const between = (least: number, most: number) => least + random.next() * (most - least);
  const files = Array.from({ length: fileCount }, (_, index): FileState => {
    const names = fileTargets.slice(index * namesPerFile, (index + 1) * namesPerFile).map(({ name }) => name);
    const now = new Set(names);
    const nextMs = between(changeEveryMs.least, changeEveryMs.most);
    return { path: join(folder, `targets-${index}.yaml`), names, before: now, now, sinceMs: new Map(), nextMs };
  });
  /** With the world's time: the machine's clock shows two versions that follow each other closely as one. */
  const write = (path: string, text: string) => {
    writeFileSync(path, text);
    const seconds = firstSecond + clock.monotonicMs() / 1_000;
    utimesSync(path, seconds, seconds);
    changed();
  };
  const replace = (path: string, text: string) => {
    write(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    changed();
  };
  const remove = (path: string) => {
    rmSync(path);
    changed();
  };
  for (const { path, now } of files) replace(path, textOf(now));

  /** Some of its names, and at least one. */
  const newVersion = ({ names }: FileState): Version => {
    const kept = names.filter(() => random.next() < 0.6);
    return new Set(kept.length > 0 ? kept : names.slice(0, 1));
  };
  const begin = (file: FileState) => {
    file.before = file.now;
    file.now = newVersion(file);
    const text = textOf(file.now);
    const lot = random.next();
    if (lot < 1 / 3) {
      replace(file.path, text);
      return end(file);
    }
    if (lot < 2 / 3) write(file.path, text.slice(0, Math.floor(random.next() * text.length)));
    else remove(file.path);
    file.nextMs = clock.monotonicMs() + random.next() * partlyMsMax;
    file.rest = () => {
      write(file.path, text);
      end(file);
    };
  };
  const end = (file: FileState) => {
    const nowMs = clock.monotonicMs();
    file.rest = undefined;
    for (const name of file.names) if (file.before.has(name) !== file.now.has(name)) file.sinceMs.set(name, nowMs);
    file.nextMs = nowMs + between(changeEveryMs.least, changeEveryMs.most);
  };
  return {
    folder,
    pattern: '*.yaml',
    step() {
      for (const file of files) {
        if (clock.monotonicMs() < file.nextMs) continue;
        if (file.rest) file.rest();
        else begin(file);
      }
    },
    expected: () =>
      files.flatMap(({ names, before, now, sinceMs, rest }) =>
        names.map((name) => {
          const isChanging = rest !== undefined && before.has(name) !== now.has(name);
          return { name, isThere: isChanging ? undefined : now.has(name), sinceMs: sinceMs.get(name) ?? 0 };
        }),
      ),
  } satisfies ConfigFiles;
}

const textOf = (names: Version): string =>
  fileTargets
    .filter(({ name }) => names.has(name))
    .map(({ name, port }) => {
      const probe = `{ tcpSocket: { port: ${port} }, periodSeconds: 10, failureThreshold: 1 }`;
      return `---\nmetadata: { name: ${name} }\nspec: { host: 10.0.0.1, readinessProbe: ${probe} }\n`;
    })
    .join('');
