/**
 * Random commands as containers have them in their probes: options, URLs, quoting, operators and forms, good and bad
 * alike. The tables are of the programs' manuals and know nothing of what the product accepts. Ports are names, which
 * `withPorts` replaces. What may be run is harmless: it reaches the loopback interface and its own folder.
 */
import type { Random } from '../../shared/lib/random.ts';

export type CommandForm = 'pod' | 'compose';

export type GeneratedCommand = {
  readonly form: CommandForm;
  readonly tool: string;
  /** In the form of the file: a list of words of a Pod, or the `test` of a healthcheck. */
  readonly written: readonly string[] | string;
  /** What the container runs. */
  readonly command: readonly string[];
};

/** Names of ports in generated texts. */
export const portNames = ['@HTTP@', '@HTTPS@', '@TCP@', '@GRPC@'] as const;
export type Ports = Readonly<Record<(typeof portNames)[number], number>>;

export const withPorts = (text: string, ports: Ports): string =>
  portNames.reduce((replaced, name) => replaced.replaceAll(name, String(ports[name])), text);

type Chance = {
  readonly below: (count: number) => number;
  readonly one: <Item>(items: readonly Item[]) => Item;
  readonly is: (probability: number) => boolean;
  /** So many of them, in random order. */
  readonly some: <Item>(items: readonly Item[], countMax: number) => readonly Item[];
};

function chanceOf(random: Random): Chance {
  const below = (count: number) => Math.floor(random.next() * count);
  const one = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to choose from');
    return item;
  };
  return {
    below,
    one,
    is: (probability) => random.next() < probability,
    some: (items, countMax) => Array.from({ length: below(countMax + 1) }, () => one(items)),
  };
}

type Fragment = readonly string[];

const words = (text: string): Fragment => text.split(' ');

/** A fragment a line; `_` stands for a blank within a word. */
const fragments = (text: string): readonly Fragment[] =>
  text
    .trim()
    .split('\n')
    .map((line) => words(line.trim()).map((word) => word.replaceAll('_', ' ')));

const curlCommon = fragments(`
  -f
  --fail
  -s
  -S
  -fsS
  -sf
  -fsSL
  -fk
  -v
  -L
  --location
  -k
  --insecure
  -o /dev/null
  -o/dev/null
  -fso /dev/null
  -w %{http_code}
  -m 5
  -m5
  -fsSm5
  --max-time 5
  --connect-timeout 3
  --retry 0
  -X GET
  -XGET
  --request GET
  -H X-Tenant:_a
  -HX-Tenant:_a
  -H Host:_shop.example
  --header Accept:_text/html
  -A agent/1
  -4
  -g
  --http1.1
`);

const curlRare = fragments(`
  --silent
  --show-error
  --verbose
  -i
  --include
  -N
  --fail-with-body
  --no-progress-meter
  --output -
  -o answer.txt
  -O
  -OJ
  -D headers.txt
  -w @file
  -w \\n%{http_code}\\n
  -w %output{x}
  -I
  --head
  -sfI
  -sIL
  -G
  --get
  -uuser:secret
  -u user:secret
  -fsSu user:secret
  --user user:secret
  --basic
  --digest
  --oauth2-bearer token
  -n
  -XPOST
  -X POST
  -fXPUT
  -X get
  -X HEAD
  --request POST
  --request-target /other
  -d a=1
  -da=1
  --data a=1
  --data-binary a=1
  --data-raw a
  --data-urlencode a=b
  --json {}
  -F a=b
  -T /etc/hostname
  -b sid=1
  --cookie sid=1
  -c jar
  -H Authorization:_Bearer_x
  -H Cookie:_a=1
  -H X-Api-Key:_k
  -H Accept:
  -H User-Agent:
  -H X-Empty;
  -H X-Empty:
  -H Host:
  -H Host:_a -H Host:_b
  -H X-Twice:_1 -H X-Twice:_2
  -H X-Odd:__two__blanks_
  -H X-Odd:no-blank
  -H _X-Led:_a
  -H X_Odd:_a
  -H Connection:_keep-alive
  -H Expect:_100-continue
  -H Range:_bytes=0-1
  -H If-None-Match:_"a"
  -H Content-Type:_application/json
  -H Accept-Encoding:_gzip
  -H X-Ref:_env:HOME
  -H @headers.txt
  -H
  -A _
  --user-agent other
  -e http://a.example/
  -e ;auto
  --referer a
  --compressed
  -r 0-1
  -z 2020-01-01
  -C -
  --http2
  --http2-prior-knowledge
  -0
  --http1.0
  --http0.9
  -6
  -x http://127.0.0.1:1
  --proxy http://127.0.0.1:1
  --noproxy *
  --noproxy localhost
  -U a:b
  --socks5 127.0.0.1:1
  --resolve localhost:@HTTP@:127.0.0.2
  --connect-to ::127.0.0.2:
  --unix-socket /none
  --interface lo
  --cacert /none.pem
  --capath /none
  --cert /none.pem
  -E /none.pem
  --key /none.pem
  --pinnedpubkey sha256//x
  --tlsv1.2
  --tls-max 1.0
  --ciphers none
  --max-redirs 0
  --location-trusted
  --proto =https
  --proto-redir =https
  --proto-default https
  --retry 1
  --retry-delay 1
  --retry-max-time 2
  --retry-connrefused
  --retry-all-errors
  --max-filesize 1
  --limit-rate 1M
  --speed-limit 1
  --keepalive-time 2
  --no-keepalive
  --path-as-is
  --url http://localhost:@HTTP@/second
  --url-query a=b
  --next
  -:
  -Z
  -K /dev/null
  --config /dev/null
  -q
  --disable
  -h
  -V
  -M
  --ignore-content-length
  --raw
  --crlf
  --sil
  --max-ti 5
  --max-time=5
  --fail=true
  --no-fail
  --no-silent
  --no-location
  --no-insecure
  -m five
  -m -1
  -m
  --retry many
  --stderr -
  --trace -
  --libcurl -
  --
  -
  -Q x
  -%
`);

const wgetCommon = fragments(`
  -q
  -qO-
  -q -O -
  -O /dev/null
  -qO /dev/null
  -nv
  --no-verbose
  --quiet
  --spider
  -q --spider
  --tries=1
  -t 1
  -t1
  -T 5
  -T5
  --timeout=5
  --timeout 5
  --no-check-certificate
  --header=X-Tenant:_a
  --header X-Tenant:_a
  --output-document=-
  -S
`);

const wgetRare = fragments(`
  -v
  --verbose
  -nc
  -nd
  -np
  -nH
  -d
  -o /dev/null
  -o log.txt
  --output-file=/dev/null
  -a log.txt
  -O answer.txt
  -P folder
  -c
  -N
  -r
  -r -l1
  -p
  -m
  --delete-after
  -e http_proxy=127.0.0.1:1
  -e robots=off
  --user=a
  --http-user=a
  --http-user=a --http-password=b
  --auth-no-challenge
  --method=POST
  --method=GET
  --method=HEAD
  --method PUT
  --body-data=a
  --post-data=a
  --post-data a
  --post-file=/etc/hostname
  --header=Host:_shop.example
  --header=Authorization:_Basic_x
  --header=Cookie:_a=1
  --header=Accept:_text/html
  --header=X-Odd
  --header=X-Empty:
  --header=
  --referer=http://a.example/
  -U agent/1
  --user-agent=agent/1
  --user-agent=
  --certificate=/c.pem
  --private-key=/k.pem
  --ca-certificate=/none.pem
  --secure-protocol=TLSv1_2
  --https-only
  --no-hsts
  --max-redirect=0
  --max-redirect=1
  --no-proxy
  -Y off
  --no-cache
  --no-http-keep-alive
  --content-on-error
  --save-headers
  --server-response
  --ignore-length
  --bind-address=127.0.0.2
  -4
  --inet4-only
  -6
  --prefer-family=IPv6
  --no-dns-cache
  --restrict-file-names=unix
  --local-encoding=utf-8
  --no-iri
  --connect-timeout=3
  --read-timeout=3
  --dns-timeout=3
  --waitretry=1
  --retry-connrefused
  --retry-on-http-error=404
  --random-wait
  -w 1
  -Q 1
  --limit-rate=1m
  --start-pos=1
  --compression=auto
  -i /dev/null
  -B http://localhost
  -F
  -x
  -E
  -k
  -H
  -L
  --spid
  --quie
  --tri=1
  --no-check
  --no-spider
  --no-quiet
  --tries=many
  -t inf
  -T
  -T 0
  -h
  -V
  --
  -
`);

const busyboxCommon = fragments(`
  -q
  -qO-
  -q -O -
  -O /dev/null
  --spider
  -q --spider
  --header X-Tenant:_a
  --header=X-Tenant:_a
  --header Host:_shop.example
  -U agent/1
  --no-check-certificate
  -S
`);

const busyboxRare = fragments(`
  -c
  -Y off
  -P folder
  --post-data a=1
  --post-data=a=1
  --post-file /etc/hostname
  -o log.txt
  -O answer.txt
  --header Authorization:_Basic_x
`);

const ncCommon = fragments('-z\n-zv\n-vz\n-z -w 2\n-zw2\n-zn\n-z -v');
const ncRare = fragments(
  '-u\n-zu\n-w 0\n-v\n-n\n-d\n-N\n-4\n-6\n-p 1234\n-s 127.0.0.1\n-x 127.0.0.1:1\n-X 5\n-k\n-t\n-i 1\n-q 0\n-h\n-r\n-C\n--',
);
const ncatRare = fragments(
  '--udp\n-u\n-w 0\n--sctp\n--ssl\n-e /bin/true\n-c true\n-4\n-6\n--proxy 127.0.0.1:1\n--recv-only\n--send-only\n-i 1\n--wait 1\n-w 1s\n-n\n-v\n--zero',
);

const grpcCommon = fragments(
  '-connect-timeout=2s\n-rpc-timeout 2s\n--rpc-timeout=2s\n-connect-timeout 500ms\n-v\n-service=shop\n--service shop\n-service=',
);
const grpcRare = fragments(`
  -tls
  --tls --tls-no-verify
  -tls=false
  -tls-ca-cert=/none.pem
  -tls-server-name=a
  -rpc-header=tenant:_a
  -user-agent=a
  -spiffe
  -alts
  -gzip
  -service=unknown
  -service=down
  -v=false
  -connect-timeout=2
  -connect-timeout=soon
  --addr=localhost:1
  -help
  --
  more
`);

const schemes = ['http://', 'http://', 'http://', 'https://', 'https://', ''];
const oddSchemes = ['HTTP://', 'http:/', 'http:', 'ftp://', 'file://', '//', 'http:///', ' http://', 'httpx://'];
const hosts = ['localhost', 'localhost', '127.0.0.1', '[::1]', '0.0.0.0'];
const oddHosts = [
  ...['LOCALHOST', 'localhost.', '127.0.0.2', '127.1', '0', '2130706433', 'user:secret@localhost', 'user@127.0.0.1'],
  ...['[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '{localhost,127.0.0.1}', '127.0.0.[1-2]', 'ftp.localhost'],
];
const paths = [
  '',
  '/',
  '/health',
  '/health',
  '/a/b/ready',
  '/healthz?full=1',
  '/?a=1&b=2',
  '?a=1',
  '/ready#now',
  '/-/ready',
];
const oddPaths = [
  ...['/a/../b', '/./a', '/a/..', '//a', '/a//b', '/%7Ea', '/%zz', '/%', '/%2e%2e/b', '/%2Fa', '/~a', "/it's", '/a;b'],
  ...[
    '/a,b',
    '/(a)',
    '/a b',
    '/a%20b',
    '/ä',
    '/$HOME',
    '/$(echo x)',
    '/`echo x`',
    `/$\{HOME}`,
    '/$$',
    '/{a,b}',
    '/[1-2]',
  ],
  ...['/*', '/a?b=c?d', '/a??', '/?', '/#', '/a#b#c', '/a|b', '/a\\b', '/a:b', '/a@b', '/!a', '/a+b', '/a=b', '/"a"'],
  ...['/a^b', '/<a>', '/a&b', '/a&&b', '/a||exit', '/a>b', '/a\tb', '/a\nb', '/a\rb', '/\x7f', '/?q=[1]', '/?q={x}'],
  ...[
    '/?q=%7B%7D',
    '/?q=~a',
    '/?http://b/',
    '/?a=$HOME',
    '/?/../b',
    '/?a#b?c',
    '/?a\\b',
    '/a:@b',
    '/.well-known',
    '/a.',
  ],
  ...[
    '/%20',
    '/%22',
    '/%23',
    '/%25',
    '/%26',
    '/%2B',
    '/%2C',
    '/%2F',
    '/%3A',
    '/%3B',
    '/%3D',
    '/%3F',
    '/%40',
    '/a%25%2Fb',
  ],
  ...['/?a=%20', '/?%22', '/?%23', '/?%25', '/?%26=%2B', '/?%2C', '/?%2F', '/?%3A', '/?%3B', '/?%3D', '/?%3F', '/?%40'],
  ...['/...', '/a/.', '/a%2f..%2fb', '/😀', '/a*b', '/a[b', '/a]b', '/.%2e/a', '/a%00b', '/a%0ab'],
];

const urlPorts = ['@HTTP@', '@HTTP@', '@HTTP@', '0@HTTP@', '', '99999', '@HTTP@x', ' @HTTP@'];

function url(chance: Chance): string {
  const scheme = chance.is(0.92) ? chance.one(schemes) : chance.one(oddSchemes);
  const host = chance.is(0.92) ? chance.one(hosts) : chance.one(oddHosts);
  const path = chance.is(0.75) ? chance.one(paths) : chance.is(0.8) ? chance.one(oddPaths) : `/${randomText(chance)}`;
  const port = scheme === 'https://' ? '@HTTPS@' : chance.is(0.95) ? '@HTTP@' : chance.one(urlPorts);
  return `${scheme}${host}${port === '' ? '' : ':'}${port}${path}`;
}

const randomText = (chance: Chance): string =>
  Array.from({ length: 1 + chance.below(6) }, () => String.fromCharCode(33 + chance.below(94))).join('');

type Program = { readonly tool: string; readonly words: (chance: Chance) => Fragment };

const optionsOf = (chance: Chance, common: readonly Fragment[], rare: readonly Fragment[]): readonly Fragment[] => [
  ...chance.some(common, 3),
  ...(chance.is(0.35) ? chance.some(rare, 2) : []),
];

const httpWords = (chance: Chance, options: readonly Fragment[]): Fragment => {
  const all = [...options, ...(chance.is(0.97) ? [[url(chance)]] : []), ...(chance.is(0.03) ? [[url(chance)]] : [])];
  if (chance.is(0.2)) all.sort(() => (chance.is(0.5) ? 1 : -1));
  return all.flat();
};

const tcpWords = (chance: Chance, options: readonly Fragment[]): Fragment => {
  const host = chance.is(0.9) ? chance.one(['localhost', '127.0.0.1', '::1', '0.0.0.0']) : chance.one(oddHosts);
  const port = chance.is(0.9)
    ? chance.one(['@TCP@', '@TCP@', '@HTTP@'])
    : chance.one(['http', '1-2', '@TCP@-@TCP@', '0@TCP@', '@TCP@ 1']);
  const all = [...options, [host, ...words(port)]];
  if (chance.is(0.1)) all.sort(() => (chance.is(0.5) ? 1 : -1));
  return all.flat();
};

const grpcWords = (chance: Chance, options: readonly Fragment[]): Fragment => {
  const host = chance.is(0.9) ? chance.one(['', 'localhost', '127.0.0.1', '[::1]']) : chance.one(oddHosts);
  const address = `${host}:${chance.is(0.95) ? '@GRPC@' : '@HTTP@'}`;
  const addr = chance.one([['-addr', address], [`-addr=${address}`], [`--addr=${address}`], ['--addr', address]]);
  return [addr, ...options].flat();
};

const programs: readonly Program[] = [
  ...Array.from(
    { length: 8 },
    (): Program => ({
      tool: 'curl',
      words: (chance) => ['curl', ...httpWords(chance, optionsOf(chance, curlCommon, curlRare))],
    }),
  ),
  ...Array.from(
    { length: 5 },
    (): Program => ({
      tool: 'wget',
      words: (chance) => ['wget', ...httpWords(chance, optionsOf(chance, wgetCommon, wgetRare))],
    }),
  ),
  ...Array.from(
    { length: 2 },
    (): Program => ({
      tool: 'busybox wget',
      words: (chance) => ['wget', ...httpWords(chance, optionsOf(chance, busyboxCommon, busyboxRare))],
    }),
  ),
  {
    tool: 'nc',
    words: (chance) => [
      'nc',
      ...tcpWords(chance, [...(chance.is(0.8) ? [['-z']] : []), ...optionsOf(chance, ncCommon, ncRare)]),
    ],
  },
  {
    tool: 'ncat',
    words: (chance) => [
      'ncat',
      ...tcpWords(chance, [...(chance.is(0.8) ? [['-z']] : []), ...optionsOf(chance, ncCommon, ncatRare)]),
    ],
  },
  {
    tool: 'grpc_health_probe',
    words: (chance) => ['grpc_health_probe', ...grpcWords(chance, optionsOf(chance, grpcCommon, grpcRare))],
  },
];

type Quoting = (word: string) => string;

const single: Quoting = (word) => `'${word.replaceAll("'", `'\\''`)}'`;
const double: Quoting = (word) => `"${word.replace(/["\\]/g, '\\$&')}"`;
const escaped: Quoting = (word) => (word === '' ? "''" : word.replace(/[^A-Za-z0-9@%_+=:,./-]/g, '\\$&'));
const bare: Quoting = (word) => word;
const ansi: Quoting = (word) => `$${single(word)}`;

/** The quoting that a word needs, or another one: then the shell reads something else. */
function quoted(word: string, chance: Chance): string {
  if (chance.is(0.04)) return ansi(word);
  if (chance.is(0.1) && word.length > 2) return single(word.slice(0, 2)) + double(word.slice(2));
  const isPlain = /^[A-Za-z0-9@%_+=:,./-]+$/.test(word);
  if (isPlain || chance.is(0.2)) return chance.one([bare, bare, bare, single, double])(word);
  return chance.one([single, double, escaped, double])(word);
}

const blanks = [' ', ' ', ' ', ' ', ' ', '  ', '\t', ' \\\n  '];

const prefixes = [
  ...[
    'exec ',
    'timeout 5 ',
    'exec timeout 5s ',
    ' ',
    '\n',
    '# first\n',
    '! ',
    'X=1 ',
    'http_proxy=http://127.0.0.1:1 ',
  ],
  ...[
    'time ',
    'command ',
    'env X=1 ',
    'true; ',
    'true && ',
    'false || ',
    'set -e\n',
    'cd / && ',
    '>/dev/null ',
    'timeout 0 ',
  ],
  ...['exec -a x ', 'eval ', 'sh -c ', 'exec 3>&1; ', 'echo ', '(', '{ ', 'if ', 'nice ', './', 'timeout -s KILL 5 '],
];
const goodEndings = [
  '',
  '',
  '',
  '',
  ' || exit 1',
  ' || exit 1',
  '||exit 1',
  ' || false',
  ' >/dev/null 2>&1',
  ' > /dev/null',
  ';',
  '\n',
];
const endings = [
  ...[
    ' || exit 0',
    ' || true',
    ' || exit 256',
    ' || exit',
    ' || exit -1',
    ' || exit 7',
    ' && exit 0 || exit 1',
    ' && true',
  ],
  ...[
    ' && exit 1',
    ' && false',
    ' && exit 0',
    ' ; true',
    ';true',
    '; exit 0',
    '; exit $?',
    '\ntrue',
    '\nfalse',
    '\nexit 0',
  ],
  ...[
    ' | grep -q ok',
    '|grep -q x',
    ' | cat',
    '| cat ||exit 1',
    ' |& cat',
    ' &',
    ' & wait',
    '&&test -f /none',
    '>/dev/null',
  ],
  ...[
    ' 2>&1',
    '>&2',
    ' 2>/dev/null || exit 1',
    ' &>/dev/null',
    ' >& /dev/null',
    ' > out.txt',
    ' >> /dev/null',
    ' 2>&-',
  ],
  ...[
    ' >&-',
    ' 3>&1',
    ' < /dev/null',
    ' <<E\nx\nE',
    ' <<< x',
    ' # why',
    ' || exit 1 # why',
    '#x',
    '\n# why',
    '\r',
    ' \\',
    ' )',
  ],
  ...[
    ' || { echo no; exit 1; }',
    ' || (exit 1)',
    ' || exit 1 || exit 0',
    ' || false && true',
    ' || false || true',
    ' && : || exit 1',
  ],
  ...[
    ' && true && false',
    ' || exit "1"',
    " || exit '1'",
    ' || exit 1 2>/dev/null',
    ' || X=1 false',
    ' || exit 1; exit 0',
    ';;',
    ' }',
  ],
  ...[
    ' || exit 01',
    ' || exit 300',
    ' || exit $((0))',
    ' || echo no',
    ' || return 1',
    ' ; fi',
    ' > /dev/null; then exit 0; fi',
  ],
  ...[
    ' && echo ok',
    ' ;\n;',
    '\u00a0',
    ' \u0085',
    ' > "/dev/null"',
    ' > /dev/nul?',
    ' || exit 1\n\n',
    ' *',
    ' ~',
    ' ""',
    " ''",
  ],
];

function script(chance: Chance, command: Fragment): string {
  const prefix = chance.is(0.2) ? chance.one(prefixes) : '';
  const ending = chance.is(0.6) ? chance.one(goodEndings) : chance.one(endings);
  const line = command.map((word, index) => (index === 0 ? '' : chance.one(blanks)) + quoted(word, chance)).join('');
  return prefix + line + ending;
}

/** Kubernetes replaces `$$` in a command by `$`, and a variable that it does not know by itself. */
const asKubeletRuns = (text: string): string => text.replaceAll('$$', '$');
/** Compose does the same, and refuses any other `$`. */
const asComposeWrites = (text: string): string => text.replaceAll('$', '$$$$');

const shells: readonly Fragment[] = [
  ...[
    ['sh', '-c'],
    ['/bin/sh', '-c'],
    ['bash', '-c'],
    ['/bin/bash', '-c'],
    ['sh', '-ec'],
    ['sh', '-c'],
  ],
  ...[['sh', '-x', '-c'], ['sh', '-nc'], ['sh', '-c', '--'], ['bash', '-lc'], ['sh']],
];

export function generateCommand(random: Random): GeneratedCommand {
  const chance = chanceOf(random);
  const program = chance.one(programs);
  const { tool } = program;
  const found = program.words(chance);
  const form: CommandForm = chance.is(0.7) ? 'pod' : 'compose';
  const isExec = chance.is(0.35);
  const path = chance.is(0.1) && tool === 'curl' ? ['/usr/bin/curl', ...found.slice(1)] : found;
  const plain = isExec && chance.is(0.05) ? ['timeout', '5', ...path] : path;
  const text = isExec ? '' : script(chance, path);
  if (form === 'compose') {
    if (isExec) return { form, tool, written: ['CMD', ...plain].map(asComposeWrites), command: plain };
    const isList = chance.is(0.5);
    const more = isList && chance.is(0.05) ? ['more'] : [];
    const written = isList ? ['CMD-SHELL', text, ...more].map(asComposeWrites) : asComposeWrites(text);
    return { form, tool, written, command: ['/bin/sh', '-c', text, ...more] };
  }
  const shell = chance.is(0.93) ? chance.one(shells.slice(0, 6)) : chance.one(shells.slice(6));
  const written = isExec ? plain : [...shell, text, ...(chance.is(0.02) ? ['more'] : [])];
  return { form, tool, written, command: written.map(asKubeletRuns) };
}
