/** What docs/manifests.md says of commands: that its tables are those of the product. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { curlOptions } from '../../shared/manifest/command/curl.ts';
import { grpcOptions } from '../../shared/manifest/command/grpc-health-probe.ts';
import { ncOptions } from '../../shared/manifest/command/nc.ts';
import type { Option } from '../../shared/manifest/command/options.ts';
import { differences } from '../../shared/manifest/command/reading.ts';
import { wgetOptions } from '../../shared/manifest/command/wget.ts';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';

const markdown = readFileSync(join(import.meta.dirname, '../../docs/manifests.md'), 'utf8');

/** From the row of its headings to the next empty line. */
function tableBelow(headings: string): string {
  const [, after] = markdown.split(`\n${headings}`);
  assert.ok(after !== undefined, headings);
  return `${headings}${after.split('\n\n')[0]}`;
}

const programs: Readonly<Record<string, readonly Option<string>[]>> = {
  '| `curl` with': curlOptions,
  '| `wget` of': wgetOptions,
  '| `nc`, `ncat`': ncOptions,
  '| `grpc_health_probe`,': grpcOptions,
};

describe('the tables of commands', () => {
  for (const [headings, options] of Object.entries(programs))
    test(`${headings} has each option that is accepted, and no other`, () => {
      const written = tableRowsOf(tableBelow(headings)).flatMap(([cell = '']) => codeSpansOf(cell));
      // The option -n of wget is known with one value.
      const names = written.map((each) => (/^-nv$/.exec(each) ? '-n' : each.split(/[ =]/)[0]));
      assert.deepEqual(names.sort(), options.flatMap((option) => option.names).sort());
    });

  test('have each difference that a note may name', () => {
    const rows = tableRowsOf(tableBelow('| note |'));
    assert.deepEqual(
      rows.map(([note]) => note),
      Object.values(differences),
    );
  });
});
