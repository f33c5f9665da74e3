/** Which commands are understood, a line each, and what stops the others. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { handlerOfCommand, localNames } from '../../shared/manifest/command/handler.ts';
import { probeTextLengthMax } from '../../shared/manifest/limits.ts';

const readingOf = (command: readonly string[]) => handlerOfCommand(command, localNames);
const root = { path: '/', port: 8080 };

/** Each means the same to every POSIX shell. */
const understood: readonly (readonly [script: string, handler: object])[] = [
  ['curl -f http://localhost:8080/', { httpGet: root }],
  ['curl -f localhost:8080', { httpGet: root }],
  ['  curl\t-f   "http://"localhost:8080/\'\' ; ', { httpGet: root }],
  ['\n# first\n\ncurl -f \\\n  http://localhost:8080/ # why\n\n', { httpGet: root }],
  ['cur\\l -\\f http://localhost:8080/', { httpGet: root }],
  ['curl -f http://localhost:8080/||exit 1', { httpGet: root }],
  ['curl -f http://localhost:8080/ || false;', { httpGet: root }],
  ['curl -f http://localhost:8080/ || exit', { httpGet: root }],
  ['curl -f http://localhost:8080/ && exit 0 || exit 1', { httpGet: root }],
  ['curl -f http://localhost:8080/ && true', { httpGet: root }],
  ['curl -f http://localhost:8080/>/dev/null 2>&1', { httpGet: root }],
  ['exec curl -f http://localhost:8080/', { httpGet: root }],
  ['exec timeout 1.5s /usr/bin/curl -f http://localhost:8080/', { httpGet: root }],
  ['curl -f "http://localhost:8080/a?b=c&d=e"', { httpGet: { path: '/a?b=c&d=e', port: 8080 } }],
  ['curl -f http://localhost:8080/a?b=c', { httpGet: { path: '/a?b=c', port: 8080 } }],
  ['curl -f http://[::1]:8080/', { httpGet: root }],
  ['curl -kfsS https://127.0.0.1', { httpGet: { path: '/', port: 443, scheme: 'HTTPS' } }],
  [
    "curl -fH 'Host: shop' -A x --referer y localhost:8080/",
    {
      httpGet: {
        ...root,
        httpHeaders: [
          { name: 'Host', value: 'shop' },
          { name: 'User-Agent', value: 'x' },
          { name: 'Referer', value: 'y' },
        ],
      },
    },
  ],
  ['wget -qO- --header="X-A:  b " 0.0.0.0:8080', { httpGet: { ...root, httpHeaders: [{ name: 'X-A', value: 'b' }] } }],
  ['wget -nv -t1 --spider http://localhost:8080/', { httpGet: root }],
  ['nc -zvw1 localhost 8080', { tcpSocket: { port: 8080 } }],
  ['ncat -z ::1 8080', { tcpSocket: { port: 8080 } }],
  ['grpc_health_probe --addr :8080 -service=shop', { grpc: { port: 8080, service: 'shop' } }],
  ["grpc-health-probe '-addr=[::1]:8080' -service ''", { grpc: { port: 8080 } }],
];

/** A script, and what names the reason. */
const stopped: readonly (readonly [script: string, reason: RegExp])[] = [
  ['', /empty/],
  ['curl -f http://localhost:8080/ | grep UP', /"\|"/],
  ['curl -f http://localhost:8080/ |& cat', /"\|&"/],
  ['curl -f http://localhost:8080/&', /"&"/],
  ['curl -f http://localhost:8080/; pgrep nginx', /"pgrep"/],
  ['curl -f http://localhost:8080/\npgrep nginx', /"pgrep"/],
  ['curl -f http://localhost:8080/&&test -f /ok', /"&&"/],
  ['curl -f http://localhost:8080/ || exit 0', /"\|\|"/],
  ['curl -f http://localhost:8080/ || exit 256', /"\|\|"/],
  ['curl -f http://localhost:8080/ || kill 1', /"\|\|"/],
  ['curl -f http://localhost:8080/ || exit 1 || exit 0', /"\|\|"/],
  ['curl -f http://localhost:8080/ || exit $N', /"\|\|"/],
  ['! curl -f http://localhost:8080/', /"!"/],
  ['time curl -f http://localhost:8080/', /"time"/],
  ['(curl -f http://localhost:8080/)', /compound/],
  ['if curl -f http://localhost:8080/; then exit 0; fi', /compound/],
  ['curl -f http://localhost:8080/ > out', /">"/],
  ['curl -f http://localhost:8080/ 2>&-', /">&"/],
  ['curl -f http://localhost:8080/ 3>/dev/null', /">"/],
  ['curl -f http://localhost:8080/ &>/dev/null', /"&>"/],
  ['curl -f http://localhost:8080/ <<E\nx\nE', /"<<"/],
  ['http_proxy=p curl -f http://localhost:8080/', /"http_proxy="/],
  ['curl -f http://localhost:8080/$PATH', /"\$PATH"/],
  ['curl -f "http://localhost:8080/$\x7bA:-b}"', /"\$\{A\}"/],
  ['curl -f http://localhost:8080/$(id)', /"\$\(…\)"/],
  ['curl -f http://localhost:8080/`id`', /"\$\(…\)"/],
  ["curl -f $'http://localhost:8080/'", /expands/],
  ["curl -f 'http://localhost:8080/$'", /"\$"/],
  ['curl -f http://localhost:8080/{a,b}', /"\{a,b\}"/],
  ['curl -f * http://localhost:8080/', /"\*"/],
  ['curl -f ~ http://localhost:8080/', /"~"/],
  ["curl -f 'http://localhost:8080/", /parsed/],
  ['curl -f http://localhost:8080/\\', /backslash/],
  ['curl -f http://localhost:8080/\r', /ASCII/],
  ['curl -f\u00a0http://localhost:8080/', /ASCII/],
  ['exec -a x curl -f http://localhost:8080/', /"exec"/],
  ['./curl -f http://localhost:8080/', /"\.\/curl"/],
  ['timeout -k 1 5 curl -f http://localhost:8080/', /"-k"/],
  ['timeout 5 timeout 5 curl -f http://localhost:8080/', /"timeout"/],
  ['curl -f', /no URL/],
  ['curl -f http://localhost/a http://localhost/b', /several URLs/],
  ['curl -f http://db:8080/', /"db"/],
  ['curl -f http://u:secret@localhost:8080/', /user info$/],
  ['curl -f "http://localhost:8080/{a}?secret"', /"\{"$/],
  ['curl -f http://localhost:8080/a/../b', /dots/],
  ['curl -f http://localhost:8080//a', /"\/\/"/],
  ['curl -f http://localhost:99999/', /65535/],
  ['curl -f file:///etc/hostname', /"file:\/\/\/etc\/hostname"/],
  ['curl -fu user:secret http://localhost:8080/', /"-u" is not known$/],
  ['curl -fuuser:secret http://localhost:8080/', /"-u" is not known$/],
  ['curl -f --user=user:secret http://localhost:8080/', /"--user=user:secret"|"--user"/],
  ['curl -fXPOST http://localhost:8080/', /"-X POST"/],
  ['curl --sil http://localhost:8080/', /"--sil"/],
  ['curl --max-time=5 http://localhost:8080/', /"--max-time=5"/],
  ['curl -f http://localhost:8080/ -m', /"-m" lacks/],
  ['curl -m 1 --max-time 2 http://localhost:8080/', /"-m" is repeated/],
  ["curl -H 'Cookie: a=secret' http://localhost:8080/", /"Cookie" is a secret$/],
  ["curl -H 'X-A: env:HOME' http://localhost:8080/", /"X-A" is a secret$/],
  ["curl -H 'X-A: 1' -H 'x-a: 2' http://localhost:8080/", /"x-a" is repeated/],
  ["curl -H 'Connection: close' http://localhost:8080/", /connection/],
  ['curl -H Accept: http://localhost:8080/', /"Accept"/],
  ['wget -q --http-password=secret http://localhost:8080/', /"--http-password="/],
  ['wget -O page http://localhost:8080/', /"-O page"/],
  ['wget -q http://localhost:8080/#a', /"#"/],
  ['nc localhost 8080', /"-z"/],
  ['nc -zu localhost 53', /"-u"/],
  ['nc -z localhost 1-9', /"1-9"/],
  ['nc localhost 8080 -z', /last two/],
  ['grpc_health_probe -addr=:8080 -tls', /"-tls"/],
  ['grpc_health_probe -addr=:8080 -v=false', /"-v="/],
  ['grpc_health_probe -addr=db:8080', /"db"/],
  ['pg_isready', /"pg_isready"/],
];

describe('a command is understood', () => {
  for (const [script, handler] of understood)
    test(JSON.stringify(script), () => {
      const reading = readingOf(['/bin/sh', '-c', script]);
      assert.equal(reading.kind, 'asks', JSON.stringify(reading));
      assert.deepEqual(reading.kind === 'asks' && reading.handler, handler);
    });
});

describe('a command stays one, and the reason names what stopped it', () => {
  for (const [script, reason] of stopped)
    test(JSON.stringify(script), () => {
      const reading = readingOf(['/bin/sh', '-c', script]);
      assert.equal(reading.kind, 'runs', JSON.stringify(reading));
      assert.match(reading.kind === 'runs' ? reading.reason : '', reason);
    });
});

describe('words without a shell', () => {
  test('stand for themselves', () => {
    const command = ['curl', '-f', 'http://localhost:8080/a&&b;(c)'];
    assert.deepEqual(readingOf(command), {
      kind: 'asks',
      handler: { httpGet: { path: '/a&&b;(c)', port: 8080 } },
      differences: ['redirects'],
    });
  });

  test('behind a script are not part of it', () => {
    assert.equal(readingOf(['sh', '-c', 'curl', '-f', 'http://localhost:8080/']).kind, 'runs');
    assert.equal(readingOf(['sh', '-l', '-c', 'curl -f http://localhost:8080/']).kind, 'runs');
    assert.equal(readingOf(['sh']).kind, 'runs');
  });

  test('of bash may discard all output in one', () => {
    assert.equal(readingOf(['bash', '-c', 'curl -f http://localhost:8080/ &>/dev/null']).kind, 'asks');
  });
});

describe('any command', () => {
  test('is read, and no other host is ever asked', () => {
    const word = fc.oneof(
      fc.constantFrom(
        'curl',
        'wget',
        'nc',
        'sh',
        '-c',
        '-f',
        '--',
        '-',
        '-z',
        '=',
        "'",
        '||',
        'http://localhost:80/',
        '-H',
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        for (const command of [words, ['sh', '-c', words.join(' ')]]) {
          const reading = readingOf(command);
          assert.ok(
            reading.kind === 'runs' ? reading.reason !== '' : !JSON.stringify(reading.handler).includes('host"'),
          );
        }
      }),
    );
  });

  test('has a bounded length', () => {
    const path = 'x'.repeat(1_000);
    assert.equal(readingOf(['curl', '-f', `http://localhost/${path}`]).kind, 'asks');
    const long = ['curl', `-${'s'.repeat(probeTextLengthMax)}`, 'http://localhost/'];
    assert.deepEqual(readingOf(long), { kind: 'runs', reason: `it has more than ${probeTextLengthMax} characters` });
  });

  test('that nests as deep as it may is read in little time', () => {
    for (const open of ['(', '{ ', '$(', '"$(', '`', '${a:-', '[[ ', 'if ', "$'", '<(', '$((', '!']) {
      const startMs = performance.now();
      readingOf(['sh', '-c', open.repeat(Math.floor(probeTextLengthMax / open.length) - 1)]);
      assert.ok(performance.now() - startMs < 2_000, open);
    }
  });
});
