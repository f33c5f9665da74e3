import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Progress, responseReader } from '../../shared/http1/response.ts';
import { keptMemory } from '../../shared/prober/kept-memory.ts';

const bodyBytesMax = 10;
const reader = () => responseReader({ bodyBytesMax: () => bodyBytesMax, reserve: keptMemory().open().reserve });

/** Gives the pieces to a reader, and the end if it still wants more. */
function read(pieces: readonly Buffer[], cause?: string): Exclude<Progress, 'more'> {
  const { take, end } = reader();
  for (const piece of pieces) {
    const progress = take(piece);
    if (progress !== 'more') return progress;
  }
  return end(cause);
}

const whole = (text: string, cause?: string) => shown(read([Buffer.from(text, 'latin1')], cause));

function shown(progress: Exclude<Progress, 'more'>) {
  if (progress.kind === 'tooMuch') return 'too much';
  if (progress.kind === 'broken')
    return progress.message.replace(/^net\/http: HTTP\/1\.x transport connection broken: /, '');
  const { status, body, bodyError } = progress.response;
  return [status, body.toString('latin1'), ...(bodyError === undefined ? [] : [bodyError])];
}

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`;

const table: Readonly<Record<string, unknown>> = {
  '': 'EOF',
  'HTTP/1.1 200': 'unexpected EOF',
  [ok]: 'unexpected EOF',
  [`${ok}\r\nall`]: [200, 'all'],
  [`${ok}\nall`]: [200, 'all'],
  [`${ok}Content-Length: 3\r\n\r\nall of it`]: [200, 'all'],
  [`${ok}Content-Length: 4\r\n\r\nall`]: [200, 'all', 'unexpected EOF'],
  [`${ok}Content-Length: 99\r\n\r\n0123456789`]: [200, '0123456789'],
  [`${ok}\r\n0123456789abc`]: [200, '0123456789'],
  [`HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\nLink: x\r\n\r\n${ok}\r\nall`]: [200, 'all'],
  'HTTP/1.1 100 C\r\n\r\n': 'unexpected EOF',
  [`${chunked}3\r\nall\r\n0\r\n\r\n`]: [200, 'all'],
  [`${chunked}3;x=y \r\nall\r\n00\r\nX-T: 1\r\n\r\n`]: [200, 'all'],
  [`${chunked}3\r\nall\r\n`]: [200, 'all', 'unexpected EOF'],
  [`${chunked}3\r\nall\r\n0\r\n`]: [200, 'all', 'unexpected EOF'],
  [`${chunked}3\r\nallx\r\n`]: [200, 'all', 'malformed chunked encoding'],
  [`${chunked}zz\r\n`]: [200, '', 'invalid byte in chunk length'],
  [`${chunked}\r\n`]: [200, '', 'empty hex number for chunk length'],
  [`${chunked}3\nall`]: [200, '', 'chunked line ends with bare LF'],
  [`${chunked}3\r\r\nall`]: [200, '', 'invalid CR in chunked line'],
  [`${chunked}${'0'.repeat(17)}\r\n`]: [200, '', 'http chunk length too large'],
  [`${chunked}3;${'x'.repeat(5000)}`]: [200, '', 'header line too long'],
  [`${chunked}0\r\nX-T\r\n\r\n`]: [200, '', 'malformed MIME header: missing colon: "X-T"'],
  [`${chunked}0\r\nX: ${'y'.repeat(5000)}\r\n\r\n`]: [200, '', 'http: suspiciously long trailer after chunked body'],
  [`${chunked}a\r\n0123456789`]: [200, '0123456789'],
  [`${chunked}f\r\n0123456789zzz`]: [200, '0123456789'],
};

describe('a response', () => {
  for (const [text, expected] of Object.entries(table)) {
    const name = text.length > 100 ? `${text.slice(0, 100)}…` : text;
    test(`${JSON.stringify(name)} reads as ${JSON.stringify(expected)}`, () => assert.deepEqual(whole(text), expected));
  }

  test('that a reset cuts off says so', () => {
    assert.equal(whole('', 'reset'), 'reset');
    assert.equal(whole('HTTP/1.1 200', 'reset'), 'reset');
    assert.deepEqual(whole(`${ok}\r\nall`, 'reset'), [200, 'all', 'reset']);
  });

  test('of another protocol is recognized at its first line', () => {
    const progress = reader().take(Buffer.from('220 mail.test ESMTP\r\n'));
    assert.notEqual(progress, 'more');
  });

  test('with too long a head is given up', () => {
    const { take } = reader();
    const piece = Buffer.alloc(1024 * 1024, 'a');
    assert.equal(take(Buffer.from(`${ok}X: `)), 'more');
    const answers = Array.from({ length: 10 }, () => take(piece));
    assert.deepEqual(answers.slice(0, 9), Array(9).fill('more'));
    assert.match(String(Object.values(answers[9] ?? {})), /exceeded/);
  });

  test('with endless informational heads is given up', () => {
    const { take } = reader();
    const piece = Buffer.from('HTTP/1.1 100 C\r\n\r\n'.repeat(60_000).concat('HTTP/1.1'));
    let answer: Progress = 'more';
    for (let at = 0; at < 20 && answer === 'more'; at += 1) {
      answer = take(at === 0 ? piece : Buffer.from(` 100 C\r\n\r\n${piece.toString()}`));
    }
    assert.match(String(Object.values(answer)), /exceeded/);
  });

  test('reads the same in whatever pieces it arrives', () => {
    const texts = Object.keys(table).filter((text) => text.length < 1000);
    fc.assert(
      fc.property(fc.constantFrom(...texts), fc.array(fc.nat({ max: 60 }), { maxLength: 8 }), (text, cuts) => {
        const pieces: Buffer[] = [];
        let rest = Buffer.from(text, 'latin1');
        for (const cut of cuts) {
          if (cut > 0 && cut < rest.length) {
            pieces.push(rest.subarray(0, cut));
            rest = rest.subarray(cut);
          }
        }
        if (rest.length > 0) pieces.push(rest);
        assert.deepEqual(shown(read(pieces)), whole(text));
      }),
      { numRuns: 2000 },
    );
  });
});

/** Processor time, which other processes of the machine do not lengthen. */
function spentMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('a hostile response costs no more than its length:', () => {
  /** Far above what these take, and far below what they took when each piece or blank was looked at again. */
  const linearMs = 2000;
  const mib = 1024 * 1024;

  test('a head in a great many pieces', () => {
    const piece = Buffer.from('y'.repeat(100));
    const pieces = [Buffer.from(`${ok}X: `), ...Array.from({ length: mib / piece.length }, () => piece)];
    assert.ok(spentMs(() => read(pieces)) < linearMs);
  });

  for (const [what, field] of [
    ['blanks inside a value', `Location: x${' '.repeat(mib)}x`],
    ['blanks inside a list', `Connection: x${' '.repeat(mib)}x`],
    ['a length of many zeros', `Content-Length: ${'0'.repeat(mib)}x`],
    ['a length of many digits', `Content-Length: ${'9'.repeat(mib)}`],
    ['a value of many folds', `Location: x\r\n${' y\r\n'.repeat(mib / 4)} z`],
  ] as const)
    test(what, () => assert.ok(spentMs(() => whole(`${ok}${field}\r\n\r\n`)) < linearMs));
});
