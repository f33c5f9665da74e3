import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { punycodeName } from '../../../shared/core/go/punycode.ts';

/** What idna.ToASCII of Go 1.26 makes of these names; most samples of RFC 3492, section 7.1, are among them. */
const encoded: readonly (readonly [name: string, ascii: string])[] = [
  ['', ''],
  ['checkout.example', 'checkout.example'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['Bücher.BÜCHER', 'xn--Bcher-kva.xn--BCHER-2pa'],
  ['ü', 'xn--tda'],
  ['üü', 'xn--tdaa'],
  ['a.ü.b', 'a.xn--tda.b'],
  ['a..ü.', 'a..xn--tda.'],
  ['z\u007fü', 'xn--z\u007f-yka'],
  ['\u0080', 'xn--a'],
  ['😀', 'xn--e28h'],
  ['\u{10ffff}', 'xn--dn32g'],
  ['a\u{10ffff}', 'xn--a-h023p'],
  ['ü\u{10ffff}', 'xn--tda23883t'],
  ['\u{26ff0}\u{26ff1}', 'xn--9j4kca'],
  ['\uf954abc\u{10ffff}', 'xn--abc-981s37420n'],
  ['日本語.jp', 'xn--wgv71a119e.jp'],
  ['ليهمابتكلموشعربي؟', 'xn--egbpdaj6bu4bxfgehfvwxn'],
  ['他们为什么不说中文', 'xn--ihqwcrb4cv8a8dqg056pqjye'],
  ['почемужеонинеговорятпорусски', 'xn--b1abfaaepdrnnbgefbadotcwatmq2g4l'],
  ['porquénopuedensimplementehablarenespañol', 'xn--porqunopuedensimplementehablarenespaol-fmd56a'],
  ['3年b組金八先生', 'xn--3b-ww4c5e180e575a65lsy2b'],
  ['安室奈美恵-with-super-monkeys', 'xn---with-super-monkeys-pc58ag80a8qai00g7n9n'],
  ['hello-another-way-それぞれの場所', 'xn--hello-another-way--fc4qua05auwb3674vfr0b'],
  ['MajiでKoiする5秒前', 'xn--MajiKoi5-783gue6qz075azm5e'],
  ['パフィーdeルンバ', 'xn--de-jg4avhby1noc0d'],
];

/** Labels that claim to be Punycode already, and as what Go sends them. */
const decodable: readonly (readonly [name: string, ascii: string])[] = [
  ['xn--', ''],
  ['xn--.example', '.example'],
  ['xn--BCHER-KVA', 'xn--BCHER-kva'],
  ['XN--bcher-kva', 'XN--bcher-kva'],
  ['xn--ü-', 'xn--tda'],
  ['xn--ü-abc', 'xn--aac60c'],
  ['xn--aaa', 'xn--aaa'],
  ['xn--0ca', 'xn--0ca'],
  ['xn--9ca', 'xn--9ca'],
  ['xn--zca', 'xn--zca'],
  ['xn--a-9999b', 'xn--a-9999b'],
  ['xn--9999b', 'xn--9999b'],
  ['xn--999b', 'xn--zn7c'],
  ['xn--zzzzza', 'xn--zzzzza'],
  ['xn--bbbbbbbbbbbbbbbbbbbb', 'xn--bbbbbbbbbbbbbbbbbbbb'],
];

const refused = [
  ['xn---', 'xn---abc', 'xn--abc-', 'xn--a-', 'ok.xn--a-'],
  ['xn--tda9', 'xn--ü-b', 'xn--bcher-\u212ava'],
  ['xn--bcher-kv', 'xn--a-b_c', 'xn--a-b', 'xn--bücher', 'xn--a-99'],
  ['xn--99999b', 'xn--a-999999b', 'xn--9999999b', 'xn--99999999'],
].flat();

const shown = (name: string) => JSON.stringify(name);

describe('a name that is not ASCII', () => {
  for (const [name, ascii] of encoded)
    test(`${shown(name)} is sent as ${shown(ascii)}`, () => assert.equal(punycodeName(name), ascii));
});

describe('a label that is Punycode already', () => {
  for (const [, ascii] of encoded) test(`stays ${shown(ascii)}`, () => assert.equal(punycodeName(ascii), ascii));
  for (const [name, ascii] of decodable)
    test(`${shown(name)} is sent as ${shown(ascii)}`, () => assert.equal(punycodeName(name), ascii));
  for (const name of refused)
    test(`is not ${shown(name)}: Go refuses it`, () => assert.equal(punycodeName(name), undefined));
});

describe('the limits are those of Go', () => {
  test('a label is decoded up to 1024 code points', () => {
    const label = (codePoints: number) => `xn--tda${'a'.repeat(codePoints - 1)}`;
    assert.equal(punycodeName(label(1024)), label(1024));
    assert.equal(punycodeName(label(1025)), undefined);
  });

  test('what does not count in 32 bits is refused', () => {
    const name = (letters: number) => `${'a'.repeat(letters)}\u{10ffff}`;
    assert.equal(punycodeName(name(1926)), `xn--${'a'.repeat(1926)}-hb97436o`);
    assert.equal(punycodeName(name(1927)), undefined);
    assert.equal(punycodeName(`xn--tda${'9'.repeat(400)}a`), undefined);
  });
});
