/**
 * The files of a format, each with what it becomes: `X.yaml` and `X.expected.json`. A first line `# --host H` or
 * `# --namespace N` is the option. `npm exec -- node test/manifest/gallery.ts` writes what they become now, to be read
 * before it is committed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Conversion, convertFile, type FileError, type Note } from '../../shared/manifest/convert.ts';

export const galleryFormats = readdirSync(import.meta.dirname, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const pathOf = (format: string, file: string) => `${import.meta.dirname}/${format}/${file}`;

export const namesIn = (format: string, ending: string): readonly string[] =>
  readdirSync(pathOf(format, ''))
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length));

export const textOf = (format: string, name: string): string => readFileSync(pathOf(format, `${name}.yaml`), 'utf8');

export function converted(format: string, name: string): Conversion {
  const text = textOf(format, name);
  const [, option, value] = /^# --(host|namespace) (\S+)\n/.exec(text) ?? [];
  return convertFile({ name: `${name}.yaml`, text }, option === undefined ? {} : { [option]: value });
}

export const expectedOf = (format: string, name: string): unknown =>
  JSON.parse(readFileSync(pathOf(format, `${name}.expected.json`), 'utf8'));

/** As it stands in the expected file: each error and note is one line. */
export function shown(conversion: Conversion): unknown {
  if (conversion.kind === 'invalid') return { errors: conversion.errors.map(errorLine) };
  const targets = conversion.targets.map(({ manifest }) => manifest);
  return JSON.parse(JSON.stringify({ targets, notes: conversion.notes.map(noteLine) }));
}

const errorLine = ({ line, column, field, detail }: FileError) => `${line}:${column} ${field ?? 'document'}: ${detail}`;
const noteLine = ({ line, column, kind, what, reason }: Note) => `${line}:${column} ${kind}: ${what} ${reason}`;

if (import.meta.main)
  for (const format of galleryFormats)
    for (const name of namesIn(format, '.yaml'))
      writeFileSync(
        pathOf(format, `${name}.expected.json`),
        `${JSON.stringify(shown(converted(format, name)), null, 2)}\n`,
      );
