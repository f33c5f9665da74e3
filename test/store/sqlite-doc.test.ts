/** How an item and the token of its last write are one text, and come apart again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { docOf, storedIn } from '../../shared/store/sqlite/doc.ts';

const mark = ',"lastWrite":"';
const hostileText = fc.oneof(
  fc.string(),
  fc.constantFrom(mark, `${mark}x"}`, `x${mark}x"}`, '"}', '\\', '\\"', `\\"${mark}y`, '}', '\u2028'),
);
/** V8's JSON.parse confuses names that are written with escapes, such as `"}` and `\\"`, so there are none of those. */
const name = hostileText.filter(
  (text) => !['', 'lastWrite', '__proto__'].includes(text) && JSON.stringify(text) === `"${text}"`,
);
const { value } = fc.letrec<{ readonly value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    hostileText,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(name, fc.constant('lastWrite')), tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const attributes = fc.dictionary(name, value, { maxKeys: 5, noNullPrototype: true });

describe('the text of an item in SQLite', () => {
  it('is the JSON of its attributes and of the token', () => {
    fc.assert(
      fc.property(attributes, hostileText, (item, token) => {
        assert.deepEqual(JSON.parse(docOf(item, token)), { ...item, lastWrite: token });
      }),
    );
  });

  it('gives both back, wherever the token is', () => {
    fc.assert(
      fc.property(attributes, attributes, hostileText, (before, after, token) => {
        const whole = { ...before, lastWrite: token, ...after };
        const { lastWrite: _, ...rest } = whole;
        assert.deepEqual(storedIn(JSON.stringify(whole)), { attributes: rest, token });
        assert.deepEqual(storedIn(docOf(rest, token)), { attributes: rest, token });
      }),
    );
  });

  it('leaves out what is undefined', () => {
    const stored = storedIn(docOf({ a: undefined, b: { c: undefined, d: 1 } }, 'token'));
    assert.deepEqual(stored, { attributes: { b: { d: 1 } }, token: 'token' });
  });
});
