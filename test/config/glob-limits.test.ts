/** Every glob that is accepted is matched in no time, whatever the name. */
import assert from 'node:assert/strict';
import { matchesGlob } from 'node:path';
import { describe, test } from 'node:test';
import { globProblem } from '../../shared/config/config-schema.ts';
import { seededRandom } from '../support/seeded-random.ts';

describe('a glob that takes long to match is refused', () => {
  const refused: readonly (readonly [what: string, pattern: string])[] = [
    ['many braces', '{a,b}'.repeat(18)],
    ['braces in braces', '{a,{b,{c,d}}}'.repeat(10)],
    ['braces that stay open', '{a,'.repeat(100)],
    ['a sequence', '{1..2000}'],
    ['an extended glob', '+(a|aa)+(a|aa)+(a|aa)b*'],
    ['a negation', '!(a*)b'],
    ['many stars', `${'*a'.repeat(60)}.yaml`],
    ['many folders', `${'**/'.repeat(40)}*.yaml`],
  ];
  for (const [what, pattern] of refused) test(what, () => assert.notEqual(globProblem(pattern), undefined));
});

describe('a glob that people write is accepted', () => {
  for (const pattern of ['targets/*.yaml', '**/*.{yaml,yml,json}', '/etc/probelet/*/targets-[0-9]?.yaml', 'a,b.yaml'])
    test(pattern, () => assert.equal(globProblem(pattern), undefined));
  test('one with a hundred choices', () =>
    assert.equal(globProblem(`{${Array.from({ length: 100 }, (_, at) => at)}}.yaml`), undefined));
});

test('of random globs each is matched in a turn of the event loop, or refused', () => {
  const { next } = seededRandom(7);
  const pick = (pieces: readonly string[]): string => pieces[Math.floor(next() * pieces.length)] ?? '';
  const pieces = ['*', '*', '**/', '?', 'a', 'aa', '{a,aa}', '{a,{b,*}}', '[a-z]', '/', '{', '}', ',', '.yaml'];
  const names = ['a'.repeat(255), `${'a/'.repeat(60)}a.yaml`, `${'aa/'.repeat(30)}b`];
  let slowest = { ms: 0, pattern: '' };
  let accepted = 0;
  for (let tried = 0; tried < 2_000; tried += 1) {
    const pattern = Array.from({ length: 1 + Math.floor(next() * 24) }, () => pick(pieces)).join('');
    if (globProblem(pattern) !== undefined) continue;
    accepted += 1;
    for (const name of names) {
      const startMs = process.cpuUsage().user / 1_000;
      matchesGlob(name, pattern);
      const ms = process.cpuUsage().user / 1_000 - startMs;
      if (ms > slowest.ms) slowest = { ms, pattern };
    }
  }
  assert.ok(accepted > 100, `${accepted} accepted`);
  assert.ok(slowest.ms < 500, `${slowest.ms} ms for ${slowest.pattern}`);
});
