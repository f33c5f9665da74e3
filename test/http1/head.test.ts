import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Head, headReader } from '../../shared/http1/head.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const none = { kind: 'none' } as const;
const close = { kind: 'close' } as const;
const chunked = { kind: 'chunked' } as const;
const length = (bytes: number) => ({ kind: 'length', bytes }) as const;

const heads: Readonly<Record<string, Head>> = {
  [ok]: { status: 200, location: '', framing: close },
  [`${ok}Content-Length: 2\r\n`]: { status: 200, location: '', framing: length(2) },
  'HTTP/1.1 200 OK\ncontent-length:2\n': { status: 200, location: '', framing: length(2) },
  'HTTP/1.1  404\r\n': { status: 404, location: '', framing: close },
  'HTTP/1.1 +20 odd\r\n': { status: 20, location: '', framing: close },
  'HTTP/2.0 200 OK\r\nContent-Length: 2\r\n': { status: 200, location: '', framing: length(2) },
  [`${ok}Content-Length : 2\r\n`]: { status: 200, location: '', framing: close },
  [`${ok}Content-Length: 02 \r\nContent-Length: 02\r\n`]: { status: 200, location: '', framing: length(2) },
  [`${ok}Content-Length: 0\r\n`]: { status: 200, location: '', framing: none },
  [`${ok}Transfer-Encoding: Chunked\r\nContent-Length: 2\r\n`]: { status: 200, location: '', framing: chunked },
  'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n': { status: 200, location: '', framing: close },
  'HTTP/1.1 204 None\r\nContent-Length: 2\r\n': { status: 204, location: '', framing: none },
  'HTTP/1.1 304 None\r\nTransfer-Encoding: chunked\r\n': { status: 304, location: '', framing: none },
  'HTTP/1.1 101 S\r\n': { status: 101, location: '', framing: none },
  'HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: a, Upgrade\r\n': { status: 101, location: '', framing: close },
  'HTTP/1.1 302 F\r\nLocation: /a\r\nLocation: /b\r\n': { status: 302, location: '/a', framing: close },
  'HTTP/1.1 302 F\r\nLocation: /a\r\n \tb \r\n': { status: 302, location: '/a b', framing: close },
};

const malformed: readonly string[] = [
  '\r\n',
  'SSH-2.0-OpenSSH_9.9\r\n',
  'HTTP/1.1 20 OK\r\n',
  'HTTP/1.1 2000 OK\r\n',
  'HTTP/1.1 -20 OK\r\n',
  'HTTP/1.1 2x0 OK\r\n',
  'http/1.1 200 OK\r\n',
  'HTTP/1.10 200 OK\r\n',
  'HTTP/1 200 OK\r\n',
  `${ok}broken\r\n`,
  `${ok} folded: first\r\n`,
  `${ok}: empty\r\n`,
  `${ok}a\tb: c\r\n`,
  `${ok}é: c\r\n`,
  `${ok}X: a\x01\r\n`,
  `${ok}X: a\rb\r\n`,
  `${ok}X: a\r\r\n`,
  `${ok}X\r\n : folded before its colon\r\n`,
  `${ok}Content-Length: 1\r\nContent-Length: 2\r\n`,
  `${ok}Content-Length:\r\n`,
  `${ok}Content-Length: -1\r\n`,
  `${ok}Content-Length: 1, 1\r\n`,
  `${ok}Content-Length: 9223372036854775808\r\n`,
  `${ok}Transfer-Encoding: gzip\r\n`,
  `${ok}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n`,
  `${ok}Transfer-Encoding: chunked\r\nTrailer: X, content-length\r\n`,
  'HTTP/1.1 204 None\r\nContent-Length: x\r\n',
];

/** `text`: without the empty line. */
const read = (text: string) => headReader(() => true).take(Buffer.from(`${text}\r\n`, 'latin1'), 0);

describe('the head of a response', () => {
  for (const [text, head] of Object.entries(heads))
    test(`${JSON.stringify(text)} is taken`, () =>
      assert.deepEqual(read(text), { kind: 'head', head, end: text.length + 2 }));
  for (const text of malformed)
    test(`${JSON.stringify(text)} is refused`, () => {
      const progress = read(text);
      assert.equal(progress === 'more' ? progress : progress.kind, 'malformed');
    });
});
