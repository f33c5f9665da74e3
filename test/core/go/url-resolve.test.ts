import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { resolveUrl } from '../../../shared/core/go/url.ts';

/** base | reference | what Go's URL.Parse makes of it; `-`: it refuses. */
const table = `
  http://h:1/start     /end              http://h:1/end
  http://h:1/start     end               http://h:1/end
  http://h:1           end               http://h:1/end
  http://h:1/a/b?q=1   c                 http://h:1/a/c
  http://h:1/a/b?q=1   ?x=2              http://h:1/a/b?x=2
  http://h:1/a/b?q=1   #f                http://h:1/a/b?q=1#f
  http://h:1/a/b?      #f                http://h:1/a/b#f
  http://h:1/a/b#f     #                 http://h:1/a/b#f
  http://h:1/a/b#f     #g                http://h:1/a/b#g
  http://h:1/a/b#f     ?x=2              http://h:1/a/b?x=2
  http://h:1/a/b#f     c                 http://h:1/a/c
  http://h:1/a/b       ../c              http://h:1/c
  http://h:1/a/b       ../../../c        http://h:1/c
  http://h:1/a/b       ./                http://h:1/a/
  http://h:1/a/b       ..                http://h:1/
  http://h:1/a/b       c//d              http://h:1/a/c//d
  http://h:1/a/b       a/..//            http://h:1/a//
  http://h:1/          a/..//            http://h:1/
  http://h:1/          /%2e%2e/x         http://h:1/%2e%2e/x
  http://u:p@h:1/      /x                http://u:p@h:1/x
  http://u:p@h:1/      //k/x             http://k/x
  http://h:1/          //k               http://k
  http://h:1/          HTTPS://K:2/x     https://K:2/x
  http://h:1/          http://v:w@h/     http://v:w@h/
  http://h:1/          http://@h/        http://@h/
  http://h:1/          http://v^:w@h/    -
  http://h:1/          /a[b]{c}          http://h:1/a%5Bb%5D%7Bc%7D
  http://h:1/          /é                http://h:1/%C3%A9
  http://h:1/          http:foo          http:foo
  http://h:1/          http://%zz/       -
  http://h:1/          http://[fe80::1%25%zz]/  -
  http://h:1/          /%zz              -
  http://h:1/          :x                -
  http://h:1/          a:b/c:            a:b/c:
  http://h:1/          1:b               -
  http://h:1/          http://h:port/    -
  http://h:1/          http://[::1/      -
  http://h:1/          http://a^b/       -
`;

describe('where a redirect leads', () => {
  for (const line of table.trim().split('\n')) {
    const [base = '', reference = '', expected = ''] = line.trim().split(/\s+/);
    test(`${base} + ${reference} = ${expected}`, () => {
      const bytes = Buffer.from(reference).toString('latin1');
      assert.equal(resolveUrl(base, bytes)?.url ?? '-', expected);
    });
  }

  test('says whether the reference had a scheme', () => {
    assert.equal(resolveUrl('http://h/', 'http://h/x')?.isAbsolute, true);
    assert.equal(resolveUrl('http://h/', '//h/x')?.isAbsolute, false);
  });
});
