/** Options written as kubectl takes them (github.com/spf13/pflag, flag.go: parseShortArg, parseLongArg). */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { commanderWords } from '../../../functions/cli/words/kubectl-words.ts';

const command = new Command('get')
  .option('-A, --all-namespaces')
  .option('-w, --watch')
  .option('-n, --namespace <name>')
  .option('-l, --selector <labels>')
  .option('-o, --output <format>')
  .option('--diff')
  .option('--no-diff')
  .option('--dry-run [where]');

const cases: readonly (readonly [line: string, words: string])[] = [
  ['targets -n=shop', 'targets -n shop'],
  ['-n shop', '-n shop'],
  ['-nshop', '-n shop'],
  ['-n= x', '-n  x'],
  ['-l=a=b', '-l a=b'],
  ['-l a=b', '-l a=b'],
  ['-la=b', '-l a=b'],
  ['-l=a!=b,c in (d)', '-l a!=b,c in (d)'],
  ['-o=yaml', '-o yaml'],
  ['-ojsonpath={.items}', '-o jsonpath={.items}'],
  ['-o=jsonpath={.a==-1}', '-o jsonpath={.a==-1}'],
  ['-Aw', '-A -w'],
  ['-Awn=shop', '-A -w -n shop'],
  ['-A=true', '--all-namespaces'],
  ['-Aw=false x', '-A x'],
  ['--watch=true', '--watch'],
  ['--watch=0', ''],
  ['--diff=false', '--no-diff'],
  ['--output=yaml', '--output=yaml'],
  ['--dry-run=server', '--dry-run=server'],
  ['--for=delete', '--for=delete'],
  ['-l -n=x', '-l -n=x'],
  ['-- -n=x', '-- -n=x'],
  ['-x=y', '-x=y'],
  ['-', '-'],
];

describe('a line is read as', () => {
  for (const [line, expected] of cases)
    test(`${line} → ${expected}`, () => assert.equal(commanderWords(line.split(' '), command).join(' '), expected));
});

test('a switch that is neither true nor false is wrong use', () => {
  for (const word of ['--watch=maybe', '-w=maybe'])
    assert.throws(() => commanderWords([word], command), /invalid argument "maybe" for --watch: must be true or false/);
});
