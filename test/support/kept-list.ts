/** A list in a JSON file to which a failing run adds what has to be tried again. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

export const keptIn = <Entry>(file: URL): readonly Entry[] => JSON.parse(readFileSync(file, 'utf8'));

/** Adds it unless one like it is there. Who reads the file meanwhile sees it with or without the new one. */
export function keepIn<Entry>(file: URL, entry: Entry, isSame: (kept: Entry) => boolean): void {
  const kept = keptIn<Entry>(file);
  if (kept.some(isSame)) return;
  const next = new URL(`${file.href}.${process.pid}`);
  writeFileSync(next, `${JSON.stringify([...kept, entry], undefined, 2)}\n`);
  renameSync(next, file);
}
