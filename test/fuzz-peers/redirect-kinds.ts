/** Peers that redirect a probe to themselves, by a long or odd Location. The redirect is followed nine times. */
import type { Random } from '../../shared/lib/random.ts';
import { between, type Kind, oneOf, type Repeated } from './kind.ts';

/** A longer Location is not kept, so it is not followed. */
const bytesMax = 1024 * 1000;

const locations: Readonly<Record<string, (random: Random) => Repeated>> = {
  'a long path': (random) => ({ before: '/', unit: oneOf(random, ['a', 'a/', '/', 'é', '"']) }),
  'dots in a path': (random) => ({
    before: oneOf(random, ['/', '']),
    unit: oneOf(random, ['../', './', '.', 'a/../', 'a/b/../', '..%2f', '/../']),
  }),
  'folders and then dots': () => ({ before: `/${'a/'.repeat(400)}`, unit: '../', after: 'end' }),
  'escapes in a path': (random) => ({ before: '/', unit: oneOf(random, ['%41', '%2f', '%ff', '%25', '%2e/']) }),
  'broken escapes': (random) => ({ before: '/', unit: oneOf(random, ['%41', '%25']), after: '%g' }),
  'a long query': (random) => ({ before: '?', unit: oneOf(random, ['a', '?', '&', '%', '\xff', ';']) }),
  'a long fragment': (random) => ({ before: '/#', unit: oneOf(random, ['a', '#', '%41', '\xff']) }),
  'a long scheme': (random) => ({ unit: oneOf(random, ['h', 'a+', '-']), after: '://127.0.0.1/' }),
  'many colons': (random) => ({ before: oneOf(random, ['http', '', '//']), unit: ':', after: '//127.0.0.1/' }),
  'long user info': (random) => ({
    before: '//',
    unit: oneOf(random, ['u', 'u:', '@', '%41', ':']),
    after: '@127.0.0.1/',
  }),
  'a long host': (random) => ({ before: '//', unit: oneOf(random, ['h', 'h.', '-', '1', '1.', '%c3%a9', '[']) }),
  'a long foreign host': (random) => ({
    before: '//',
    unit: oneOf(random, ['\xc3\xa9', '\xe4\xb8\xad\xe6\x96\x87.', '\xc3\xa9.', 'xn--a-', 'xn--nxasmq6b.']),
  }),
  'a long address': (random) => ({ before: '//[', unit: oneOf(random, ['1:', ':', '%25', '0', 'f']), after: ']/' }),
  'a long port': (random) => ({ before: '//127.0.0.1:', unit: oneOf(random, ['0', '9']), after: '/' }),
  'a control character at the end': (random) => ({ before: '/', unit: oneOf(random, ['a', '"', '\xff']), after: '\t' }),
};

export const redirectKinds: readonly Kind[] = Object.entries(locations).map(
  ([name, location]): Kind => ({
    ...{ name: `redirect: ${name}`, transport: 'http', bytesMax },
    reply(bytes, random) {
      const given = location(random);
      const status = oneOf(random, [301, 302, 303, 307, 308]);
      const head = `HTTP/1.1 ${status} Moved\r\nContent-Length: 0\r\nLocation: `;
      return between(head, () => given, '\r\n\r\n')(bytes, random);
    },
  }),
);
