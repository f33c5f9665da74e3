/**
 * Which tests execute which part of the product, by V8's own account of blocks. Stripped types leave every offset where
 * it was.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildOptions, runChild } from './child.ts';
import type { Mutant } from './mutant.ts';

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number };
type Script = { readonly url: string; readonly functions: readonly { readonly ranges: readonly Range[] }[] };

export type Coverage = {
  executes(mutant: Pick<Mutant, 'file' | 'start'>): boolean;
  readonly seconds: number;
};

const projectUrl = new URL('../../', import.meta.url).href;

/** Of a run without any mutant. undefined: it does not pass. */
export async function coverageOf(
  options: Omit<ChildOptions, 'mutant' | 'coverageFolder'>,
): Promise<Coverage | undefined> {
  const coverageFolder = mkdtempSync(join(tmpdir(), 'probelet-coverage-'));
  try {
    const { exitCode, seconds } = await runChild({ ...options, coverageFolder });
    if (exitCode !== 0) return undefined;
    return { executes: executesIn(scriptsIn(coverageFolder)), seconds };
  } finally {
    rmSync(coverageFolder, { recursive: true });
  }
}

function scriptsIn(folder: string): ReadonlyMap<string, readonly Script[]> {
  const scripts = new Map<string, Script[]>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly result: readonly Script[] };
    for (const script of result) {
      if (!script.url.startsWith(projectUrl)) continue;
      const file = script.url.slice(projectUrl.length);
      scripts.set(file, [...(scripts.get(file) ?? []), script]);
    }
  }
  return scripts;
}

const executesIn =
  (scripts: ReadonlyMap<string, readonly Script[]>): Coverage['executes'] =>
  ({ file, start }) =>
    (scripts.get(file) ?? []).some((script) => (innermost(script, start)?.count ?? 0) > 0);

/** Ranges are nested: the smallest one around a place says how often it was executed. */
function innermost({ functions }: Script, at: number): Range | undefined {
  const around = functions.flatMap(({ ranges }) =>
    ranges.filter(({ startOffset, endOffset }) => startOffset <= at && at < endOffset),
  );
  return around.reduce<Range | undefined>(
    (smallest, range) => (!smallest || lengthOf(range) <= lengthOf(smallest) ? range : smallest),
    undefined,
  );
}

const lengthOf = ({ startOffset, endOffset }: Range): number => endOffset - startOffset;
