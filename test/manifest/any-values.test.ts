/**
 * Whatever stands in a file, it is converted or refused with a place: galleries with values of any kind in any place.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { convertFile } from '../../shared/manifest/convert.ts';
import { findingsOf } from '../../shared/manifest/findings.ts';
import { galleryFormats, namesIn, textOf } from './gallery.ts';

const documents: readonly unknown[] = galleryFormats.flatMap((format) =>
  namesIn(format, '.yaml')
    .filter((name) => !/^(unparsable|bad-aliases)/.test(name))
    .flatMap((name) => parseAllDocuments(textOf(format, name), { merge: true }).map((each): unknown => each.toJS())),
);

type Place = { readonly parent: object; readonly key: string };

const placesIn = (value: unknown): readonly Place[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, member]) => [{ parent: value, key }, ...placesIn(member)])
    : [];

const odd = fc.oneof(
  fc.constantFrom(
    null,
    '',
    0,
    -1,
    1.5,
    true,
    [],
    {},
    [null],
    [[]],
    { a: null },
    '__proto__',
    '$A',
    '$$',
    'http://',
    ':',
  ),
  fc.string(),
  fc.integer(),
  fc.constantFrom('Pod', 'List', 'http:80', '1s', 'None', 'NONE', '[STATUS] == 200', 'tcp://a:1', 'sh', '-c'),
);

test('odd values in any place are converted or refused, and never thrown about', () => {
  const edit = fc.tuple(fc.nat(), odd);
  fc.assert(
    fc.property(fc.constantFrom(...documents), fc.array(edit, { minLength: 1, maxLength: 3 }), (document, edits) => {
      const root = { value: structuredClone(document) };
      for (const [seed, value] of edits) {
        const places = placesIn(root);
        const place = places[seed % places.length];
        if (place) Object.assign(place.parent, { [place.key]: structuredClone(value) });
      }
      const converted = convertFile({ name: 'odd', text: JSON.stringify(root.value) ?? 'null' });
      if (converted.kind === 'converted') return converted.targets.every((target) => findingsOf(target).length >= 0);
      return converted.errors.every(({ line, column, detail }) => line === 1 && column >= 1 && detail !== '');
    }),
    { numRuns: 3_000 },
  );
});

test('there are documents of every format to begin with', () =>
  assert.ok(documents.length > 60, `${documents.length}`));
