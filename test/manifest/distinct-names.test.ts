/** Names of other formats that become the same name of a target: no file is refused for them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { convertFile } from '../../shared/manifest/convert.ts';

/** Names that differ only in punctuation and case, or behind what a name of a target has room for. */
const alike = fc
  .tuple(
    fc.integer({ min: 1, max: 80 }),
    fc.uniqueArray(
      fc.tuple(fc.constantFrom('a', 'A'), fc.constantFrom('-', '_', '.', '__'), fc.constantFrom('b', 'B')),
      { minLength: 2, selector: String },
    ),
  )
  .map(([times, names]) => names.map(([first, between, last]) => `${first.repeat(times)}${between}${last}`));

const formats: { readonly [format: string]: (names: readonly string[]) => object } = {
  compose: (names) => ({
    services: Object.fromEntries(names.map((name) => [name, { labels: { 'probelet.readinessProbe': 'tcp:1' } }])),
  }),
  gatus: (names) => ({
    endpoints: names.map((name) => ({ name, url: 'tcp://a:1', conditions: ['[CONNECTED] == true'] })),
  }),
};

function namesOf(document: object): readonly string[] {
  const conversion = convertFile({ name: 'file', text: JSON.stringify(document) }, { host: '10.0.0.1' });
  assert.ok(conversion.kind === 'converted', JSON.stringify(conversion));
  return conversion.targets.map(({ name }) => name);
}

for (const [format, documentOf] of Object.entries(formats)) {
  test(`each of the names of a ${format} file that are alike has a target of its own`, () => {
    fc.assert(
      fc.property(alike, (names) => {
        const found = namesOf(documentOf(names));
        assert.equal(new Set(found).size, names.length);
      }),
    );
  });

  test(`a name of a ${format} file stays when others come or go behind the first`, () => {
    fc.assert(
      fc.property(alike, (names) => {
        const [first = '', ...rest] = names;
        const reversed = [first, ...rest.toReversed()];
        assert.deepEqual(namesOf(documentOf(reversed)).slice(1).toReversed(), namesOf(documentOf(names)).slice(1));
        assert.deepEqual(namesOf(documentOf(names.slice(0, -1))), namesOf(documentOf(names)).slice(0, -1));
      }),
    );
  });
}
