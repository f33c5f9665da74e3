/** Peers that misuse HTTP/1: heads, informational heads, chunks. Each kind is one idea; the seed varies it. */
import type { Random } from '../../shared/lib/random.ts';
import { between, filled, type Kind, kindsOf, oneOf, type Repeated, type Replies } from './kind.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const end = '\r\n\r\n';

/** A well-formed head around the repeated part. */
const inHead = (of: (random: Random) => Repeated) => between(ok, of, end);

/** A chunked body. */
const inBody = (of: (random: Random) => Repeated) => between(`${ok}Transfer-Encoding: chunked${end}`, of);

/** The fields that the prober interprets. */
const decisive = ['Location', 'Content-Length', 'Transfer-Encoding', 'Trailer', 'Connection', 'Upgrade'] as const;

const blank = (random: Random): string => oneOf(random, [' ', '\t', ' \t']);

const heads: Replies = {
  'blanks in a value': inHead((random) => ({ before: 'X-A: a', unit: blank(random), after: 'b' })),
  'blanks in a decisive value': inHead((random) => ({
    before: `${oneOf(random, decisive)}: a`,
    unit: blank(random),
    after: 'b',
  })),
  'blanks before a value': inHead((random) => ({ before: `${oneOf(random, decisive)}:`, unit: blank(random) })),
  'blanks after a value': inHead((random) => ({ before: `${oneOf(random, decisive)}: 1`, unit: blank(random) })),
  'many runs of blanks': inHead((random) => ({
    before: `${oneOf(random, decisive)}: a`,
    unit: `${blank(random).repeat(1 + Math.floor(random.next() * 50))}b`,
  })),
  'blanks in a name': inHead((random) => ({ before: 'X', unit: blank(random), after: ': b' })),
  'a long name': inHead(() => ({ unit: 'n', after: ': v' })),
  'a long name without a colon': inHead(() => ({ unit: 'n' })),
  'a long value': inHead((random) => ({ before: 'X-A: ', unit: oneOf(random, ['v', '\xe9', '"', ',']) })),
  'many fields': inHead((random) => ({ unit: oneOf(random, ['a:b\r\n', 'X-Any: value\r\n', 'a:\n']), after: 'z: z' })),
  'many decisive fields': inHead((random) => ({
    unit: oneOf(random, ['Content-Length: 0\r\n', 'Connection: a,b\r\n', 'Trailer: a\r\n', 'Location: /a\r\n']),
    after: 'z: z',
  })),
  'folded lines': inHead((random) => ({ before: 'X-A: a', unit: oneOf(random, ['\r\n b', '\n\t', '\r\n ']) })),
  'folded lines of a decisive field': inHead((random) => ({
    before: `${oneOf(random, decisive)}: a`,
    unit: oneOf(random, ['\r\n b', '\n\t', '\r\n ']),
  })),
  'a list of tokens': inHead((random) => ({
    before: `Transfer-Encoding: chunked\r\n${oneOf(random, ['Trailer', 'Connection'])}: a`,
    unit: oneOf(random, [',', ', ', ',a', ' ,\t']),
  })),
  'a list of tokens and a switch of protocols': between(
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: a',
    (random) => ({ unit: oneOf(random, [',', ', ', ',a', ' ,\t']) }),
    end,
  ),
  'a long length': inHead((random) => ({ before: 'Content-Length: ', unit: oneOf(random, ['0', '9', '0 ']) })),
  'a long transfer encoding': inHead((random) => ({
    before: 'Transfer-Encoding: ',
    unit: oneOf(random, ['chunked', 'x', '"\\', '\xff']),
  })),
  'a long status line': between('HTTP/1.1 200 ', (random) => ({ unit: oneOf(random, ['O', ' ', '\xff']) }), end),
  'a long version': between('', (random) => ({ unit: oneOf(random, ['H', '1', '\xff', '"']) }), ` 200 OK${end}`),
  'a long status code': between('HTTP/1.1 ', (random) => ({ unit: oneOf(random, ['0', '2', ' ']) }), ` OK${end}`),
  'informational heads': between(
    '',
    (random) => ({
      unit: oneOf(random, [`HTTP/1.1 100 Continue${end}`, `HTTP/1.1 103 E\r\nLink: a\r\nLocation: b${end}`]),
    }),
    `${ok}Content-Length: 2${end}ok`,
  ),
  'lines that end in CR': inHead(() => ({ before: 'a: b', unit: '\r' })),
  'no line at all': (bytes, random) => ({ pieces: filled(oneOf(random, ['\0', '\n', '\r\n', 'x']), bytes) }),
};

const bodies: Replies = {
  'a body without end': between(`${ok}\r\n`, () => ({ unit: 'b' })),
  'a body longer than its length': between(`${ok}Content-Length: 5000${end}`, () => ({ unit: 'b' })),
  'tiny chunks': inBody(() => ({ unit: '1\r\nx\r\n', after: '0\r\n\r\n' })),
  'chunks with extensions': inBody((random) => ({
    unit: oneOf(random, ['1;a\r\nx\r\n', '8;aaaaaaaaaaaaaaa\r\nxxxxxxxx\r\n', '1 \r\nx\r\n']),
    after: '0\r\n\r\n',
  })),
  'a long extension': inBody((random) => ({ before: '1;', unit: oneOf(random, ['e', ';', ' ']), after: '\r\nx\r\n' })),
  'a long chunk size': inBody((random) => ({ unit: oneOf(random, ['0', 'f', ' ']), after: '\r\nx\r\n0\r\n\r\n' })),
  'chunk lines that never end': inBody(() => ({ unit: '\r' })),
  'many trailers': inBody(() => ({ before: '1\r\nx\r\n0\r\n', unit: 'a: b\r\n', after: '\r\n' })),
  'a long trailer': inBody((random) => ({ before: '0\r\na:', unit: oneOf(random, [' ', 'b', '\r\n ']), after: end })),
};

const plain = kindsOf('', { ...heads, ...bodies }, { transport: 'http' });

export const http1Kinds: readonly Kind[] = [
  ...plain,
  // TLS cuts what it carries into its own records.
  ...plain
    .filter(({ name }) => ['many fields', 'a long value', 'tiny chunks'].includes(name))
    .map((kind): Kind => ({ ...kind, name: `${kind.name}, over TLS`, transport: 'https' })),
];
