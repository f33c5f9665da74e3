/** What a process prints goes through few places, where no text of others acts on a terminal or begins a line. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gatedIo, type Io, processIo } from '../../functions/cli/io.ts';
import { hostileText } from '../support/hostile-text.ts';

const root = join(import.meta.dirname, '../..');
const sources = execFileSync('git', ['ls-files', '-z', 'shared', 'functions'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((path) => /\.m?[jt]s$/.test(path) && existsSync(join(root, path)))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

const filesWith = (pattern: RegExp): readonly string[] =>
  sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

/** Where a program writes to its streams, and why no text of others gets through. */
const writers: { readonly [path: string]: string } = {
  'functions/cli/io.ts': 'gatedIo is before it',
  'functions/cost/main.ts': 'has numbers and texts of its own',
  'functions/lambda/log.ts': 'visibleText',
  'functions/local/demo/demo.ts': 'has texts of its own processes',
  'functions/local/process/json-log.ts': 'visibleText',
  'functions/local/main.ts': 'visibleLine',
  'functions/local/require-node.mjs': 'has a text of its own, and runs before all else',
  'functions/local/start.mjs': 'has the name of a signal',
  'functions/prober/main.ts': 'visibleLine',
  'functions/watchdog/thread.ts': 'has the name of a probe in JSON, which is ASCII; its loop hangs',
};

test('only these files write to the standard streams', () => {
  const writing = /process\.std(?:out|err)\.(?:write|fd)|\bconsole\.\w|\bwriteSync\([12],/;
  assert.deepEqual(filesWith(writing).toSorted(), Object.keys(writers).toSorted());
});

test('those that say so have the gate', () => {
  for (const [path, why] of Object.entries(writers))
    if (why.startsWith('visible'))
      assert.match(sources.find((each) => each.path === path)?.text ?? '', new RegExp(`${why}\\(`), path);
});

test('what the command line prints is made in one file', () => {
  assert.deepEqual(filesWith(/ as Printable\b/), ['functions/cli/printing/printable.ts']);
  const own = ['completion.ts', 'explain.ts'].map((name) => `functions/cli/commands/${name}`);
  const others = ['jsonpath/jsonpath.ts', 'printing/printable.ts', 'program.ts'].map((name) => `functions/cli/${name}`);
  assert.deepEqual(filesWith(/\bownText\b/), [...own, ...others]);
});

test('a text of others is a line, or the compiler refuses it', () => {
  const printed: string[] = [];
  const io: Io = gatedIo({ ...processIo(), out: (text) => printed.push(text) });
  // @ts-expect-error: such a text may have lines of others.
  const refused: Parameters<Io['out']>[0] = hostileText;
  io.line(refused);
  assert.equal(printed.join('').split('\n').length, 2);
});
