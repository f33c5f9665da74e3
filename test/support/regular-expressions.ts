/**
 * Every regular expression of the product, and the proof that matching takes time linear in the text: `recheck` builds
 * the automaton of its backtracking and shows that no text makes it more than linear. `node
 * test/support/regular-expressions.ts` writes the list again.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CallExpression, type NewExpression, parseSync, Visitor } from 'oxc-parser';
import * as z from 'zod';

const root = join(import.meta.dirname, '../..');
export const listPath = join(root, 'test/repository/regular-expressions.txt');

/** `text`: as in the source, `/a+/g`. Of a schema's format the expression of zod. */
export type Expression = { readonly path: string; readonly text: string };

/** Expressions that are made when the product runs cannot be listed, nor proven. */
export type Found = { readonly expressions: readonly Expression[]; readonly made: readonly string[] };

/** All of the product, in the order of their files. */
export function foundExpressions(): Found {
  const files = execFileSync('git', ['ls-files', 'shared', 'functions', 'cdk'], { cwd: root, encoding: 'utf8' });
  const paths = files.split('\n').filter((path) => /\.[cm]?[jt]s$/.test(path));
  const found = paths.map((path) => expressionsIn(path, readFileSync(join(root, path), 'utf8')));
  return { expressions: found.flatMap((one) => one.expressions), made: found.flatMap((one) => one.made) };
}

/** What one file holds. */
export function expressionsIn(path: string, source: string): Found {
  const expressions: Expression[] = [];
  const made: string[] = [];
  const called = (node: CallExpression | NewExpression) => {
    const callee = source.slice(node.callee.start, node.callee.end);
    const text = source.slice(node.start, node.end);
    if (callee === 'RegExp') made.push(`${path}: ${text}`);
    const [format, ...more] = zodFormats[text] ?? [];
    if (/^z\.(iso\.)?[a-z0-9]+$/.test(callee) && isFormat(callee)) {
      if (format === undefined) made.push(`${path}: ${text}`);
      else expressions.push(...[format, ...more].map((one) => ({ path, text: String(one) })));
    }
  };
  const visitor = new Visitor({
    Literal: (node) => {
      if ('regex' in node) expressions.push({ path, text: source.slice(node.start, node.end) });
    },
    CallExpression: called,
    NewExpression: called,
  });
  visitor.visit(parseSync(path, source).program);
  return { expressions, made };
}

/** Schemas of zod that hold an expression of zod's own, and match texts with it. */
const isFormat = (callee: string): boolean => {
  const name = callee.slice(callee.lastIndexOf('.') + 1);
  return callee.startsWith('z.iso.') || (Object.hasOwn(z.regexes, name) && !withoutMatching.has(name));
};

/** Their expressions serve template literals only. */
const withoutMatching: ReadonlySet<string> = new Set([
  ...['string', 'number', 'integer', 'bigint', 'boolean', 'null', 'undefined'],
]);

/** Those that the product uses, as they stand in it. */
const zodFormats: Readonly<Record<string, readonly RegExp[]>> = {
  'z.iso.datetime()': patternsOf(z.iso.datetime()),
  'z.iso.datetime({ offset: true })': patternsOf(z.iso.datetime({ offset: true })),
};

function patternsOf(schema: z.ZodType): readonly RegExp[] {
  const { pattern } = schema._zod.def as { readonly pattern?: unknown };
  if (!(pattern instanceof RegExp)) throw new TypeError('a format without an expression');
  return [pattern];
}

export type Verdict = 'linear' | 'constant' | 'not linear' | 'unknown';

/**
 * What `recheck` proves of the expression, by the automaton alone: its other checker only searches for a
 * counterexample.
 */
export async function proofOf(): Promise<(text: string) => Verdict> {
  // Its own JavaScript, not the executable for this machine.
  process.env.RECHECK_SYNC_BACKEND = 'pure';
  const { checkSync } = await import('recheck');
  const known = new Map<string, Verdict>();
  const prove = (text: string): Verdict => {
    if (hasOneLoop(text)) return 'linear';
    const end = text.lastIndexOf('/');
    const options = { checker: 'automaton', timeout: proofMaxMs } as const;
    const proven = checkSync(text.slice(1, end), text.slice(end + 1), options);
    if (proven.status !== 'safe') return proven.status === 'vulnerable' ? 'not linear' : 'unknown';
    return proven.complexity.type === 'linear' ? 'linear' : 'constant';
  };
  return (text) => {
    const verdict = known.get(text) ?? prove(text);
    known.set(text, verdict);
    return verdict;
  };
}

/**
 * Needs no automaton: it begins where the text begins, has one way through each character but for choices of constant
 * length, and one loop, over single characters. Giving those back one after the other tries the constant rest once for
 * each. (zod's dates are such.)
 */
function hasOneLoop(text: string): boolean {
  const [body, flags] = [text.slice(1, text.lastIndexOf('/')), text.slice(text.lastIndexOf('/') + 1)];
  const plain = body.replace(/\\.|\[(?:\\.|[^\]\\])*\]/g, 'x');
  const loops = plain.match(/.[*+]|.\{\d+,\}/g) ?? [];
  const isAnchored = /^\^[^|]*$/.test(withoutGroups(plain)) && !flags.includes('m');
  return isAnchored && loops.length === 1 && !/\)[*+{]/.test(plain) && !/\\\d|\(\?[=!<]/.test(body);
}

/** Only what is outside of all parentheses: an alternative there may lack the anchor. */
function withoutGroups(plain: string): string {
  const inner = plain.replace(/\([^()]*\)/g, 'x');
  return inner === plain ? plain : withoutGroups(inner);
}

/** Far more than any takes; one that takes longer is too intricate. */
const proofMaxMs = 20_000;

/** The list as a text: a line for each expression of each file. */
export async function listed(expressions: readonly Expression[]): Promise<string> {
  const proof = await proofOf();
  const lines = expressions.map(({ path, text }) => `${path}  ${text}  ${proof(text)}`);
  return `${[...new Set(lines)].join('\n')}\n`;
}

if (import.meta.main) writeFileSync(listPath, await listed(foundExpressions().expressions));
