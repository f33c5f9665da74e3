/** `probelet alerts`: tests of receivers that accept, refuse and do not listen, and silences. */
import assert from 'node:assert/strict';
import { chmodSync, lstatSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { freePort } from '../../support/free-port.ts';
import { cliFiles } from './files.ts';

const { ran, fileOf } = cliFiles('alerts');

describe('alerts test', () => {
  const arrived: { readonly path: string; readonly body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    arrived.push({ path: request.url ?? '', body });
    response.writeHead(request.url === '/refuses' ? 400 : 200);
    response.end(request.url === '/refuses' ? `invalid_blocks\n in ${JSON.parse(body).routing_key}` : 'ok');
  });
  let config = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const key = fileOf('key', 'k'.repeat(32));
    config = fileOf(
      'probelet.yaml',
      `receivers:
  - { name: chat, slack: { url: "${url}/chat" } }
  - { name: on-call, pagerduty: { routingKey: { file: "${key}" }, url: "${url}/refuses" } }
  - { name: away, webhook: { url: "http://127.0.0.1:${await freePort()}" } }
  - { name: unset, slack: { url: { env: PROBELET_TEST_NO_SUCH_VARIABLE } } }
`,
    );
  });
  after(() => server.close());

  test('prints what a receiver answered to the beginning and to the end', async () => {
    assert.deepEqual(await ran('test', '-f', config, '--receiver', 'chat'), {
      code: 0,
      out: 'chat: firing accepted: ok\nchat: resolved accepted: ok\n',
      err: [],
    });
    const texts = arrived.filter(({ path }) => path === '/chat').map(({ body }) => JSON.parse(body).text);
    assert.deepEqual(texts, [
      '🔴 test/test not ready: This is a test of probelet: nothing is wrong. (test)',
      '✅ Resolved after 1m: test/test not ready (test)',
    ]);
  });

  test('ends with 1 if a receiver refuses or does not listen, and shows no secret', async () => {
    const refused = await ran('test', '-f', config, '--receiver', 'on-call');
    assert.deepEqual(refused, {
      code: 1,
      out: 'on-call: firing refused, status 400: invalid_blocks  in ***\n',
      err: [],
    });
    const away = await ran('test', '-f', config, '--receiver', 'away');
    assert.deepEqual(away, { code: 1, out: 'away: firing failed, ECONNREFUSED\n', err: [] });
  });

  test('names a secret that is not set, and a receiver that is not there', async () => {
    const [unset] = (await ran('test', '-f', config)).err;
    assert.equal(
      unset,
      'error: probelet.yaml:5:5: receivers[3].slack.url: the variable PROBELET_TEST_NO_SUCH_VARIABLE is empty or not set',
    );
    assert.deepEqual(await ran('test', '-f', config, '--receiver', 'oncall'), {
      code: 4,
      out: '',
      err: ['error: probelet.yaml has no receiver oncall: did you mean on-call?'],
    });
    const none = fileOf('none.yaml', 'targets: []\n');
    assert.deepEqual((await ran('test', '-f', none)).err, ['error: none.yaml has no receivers']);
  });

  test('names each mistake of a configuration on a line of its own', async () => {
    const wrong = fileOf('wrong.yaml', 'receivers:\n  - { name: a }\n  - { name: b }\n');
    for (const command of ['test', 'silences']) {
      const { err } = await ran(command, '-f', wrong);
      assert.deepEqual(
        err.map((line) => line.split(' ').slice(0, 2).join(' ')),
        ['error: wrong.yaml:2:5:', 'error: wrong.yaml:3:5:'],
      );
    }
  });

  test('ends with 2 without a file', async () => {
    const { code, err } = await ran('test');
    assert.equal(code, 2);
    assert.match(err[0] ?? '', /required option '-f, --filename <file>' not specified/);
  });
});

describe('alerts silence', () => {
  const text = `# The shop.
alerts:
  - name: shop-down # on call
    silences:
      - { match: { names: [old] }, until: 2020-01-31T18:00:00Z, reason: past }
    notify: [chat]
  - { name: any, notify: [chat] }

# Who is notified.
receivers:
  - { name: chat, slack: { url: { env: SLACK_URL } } }
`;
  const silenced = async (content: string, ...args: readonly string[]) => {
    const file = fileOf('silenced.yaml', content);
    return { ...(await ran('silence', '-f', file, '--reason', 'upgrade: "db"', ...args)), file };
  };

  test('writes into the file for each alert, and leaves all else as it is', async () => {
    const { code, out, err, file } = await silenced(text, '--name', 'checkout', '--for', '2h');
    assert.deepEqual([code, err], [0, []]);
    const until = '2026-01-01T14:00:00Z';
    assert.equal(out, ['shop-down', 'any'].map((name) => `alert/${name} silenced from now until ${until}\n`).join(''));
    const added = `{"match":{"names":["checkout"]},"until":"${until}","reason":"upgrade: \\"db\\""}`;
    const wanted = text
      .replace('reason: past }\n', `reason: past }\n      - ${added}\n`)
      .replace('name: any, notify: [chat] }', `name: any, notify: [chat], silences: [${added}] }`);
    assert.equal(readFileSync(file, 'utf8'), wanted);
  });

  test('keeps the permissions of the file, and the link to it', async () => {
    const file = fileOf('real.yaml', text);
    chmodSync(file, 0o640);
    const link = `${file}.link`;
    symlinkSync(file, link);
    assert.equal((await ran('silence', '-f', link, '--all-targets', '--for', '1h', '--reason', 'x')).code, 0);
    assert.deepEqual([statSync(file).mode & 0o777, lstatSync(link).isSymbolicLink()], [0o640, true]);
    assert.match(readFileSync(file, 'utf8'), /"reason":"x"/);
  });

  test('of a file in JSON leaves JSON', async () => {
    const { alerts, receivers } = parse(text);
    const { code, file } = await silenced(
      JSON.stringify({ alerts, receivers }),
      '--alert',
      'any',
      '-n',
      'shop',
      '--for',
      '1d',
    );
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')).alerts[1].silences[0].match, { namespaces: ['shop'] });
  });

  const refused: readonly (readonly [what: string, args: readonly string[], code: number, line: RegExp])[] = [
    [
      'no targets',
      ['--for', '2h'],
      2,
      /say which targets by --namespace, --name and --selector, or all by --all-targets/,
    ],
    ['all and some targets', ['--all-targets', '-n', 'a', '--for', '2h'], 2, /say which targets/],
    ['no end', ['--all-targets'], 2, /either --until or --for/],
    ['two ends', ['--all-targets', '--for', '2h', '--until', '2030-01-31T18:00:00Z'], 2, /either --until or --for/],
    [
      'an end that is past',
      ['--all-targets', '--until', '2020-01-31T18:00:00Z'],
      2,
      /would have ended before it begins/,
    ],
    ['a local time', ['--all-targets', '--until', '2030-01-31T18:00:00'], 2, /must be an instant in UTC/],
    ['a year', ['--all-targets', '--for', '365d'], 2, /of at most 90 days/],
    [
      'an unknown alert',
      ['--all-targets', '--for', '2h', '--alert', 'shop-dwn'],
      4,
      /no alert shop-dwn: did you mean shop-down\?/,
    ],
    ['a wrong selector', ['-l', 'a in', '--for', '2h'], 1, /cannot be changed by this command/],
  ];
  for (const [what, args, code, line] of refused)
    test(`refuses ${what}, and changes nothing`, async () => {
      const { file, ...ended } = await silenced(text, ...args);
      assert.equal(ended.code, code, ended.err.join());
      assert.match(ended.err.join('\n'), line);
      assert.equal(readFileSync(file, 'utf8'), text);
    });

  test('is listed with its state', async () => {
    const file = fileOf('listed.yaml', text);
    await ran('silence', '-f', file, '--alert', 'any', '-n', 'shop', '--for', '1h', '--reason', 'now');
    const later = ['--from', '2026-01-02T00:00:00Z', '--for', '1h', '--reason', 'later'];
    await ran('silence', '-f', file, '--alert', 'any', '-l', 'app=db', ...later);
    const { out } = await ran('silences', '-f', file);
    assert.deepEqual(
      out
        .trimEnd()
        .split('\n')
        .map((row) => row.split(/ {2,}/)),
      [
        ['ALERT', 'TARGETS', 'FROM', 'UNTIL', 'STATE', 'REASON'],
        ['shop-down', 'name old', '<none>', '2020-01-31T18:00:00Z', 'ended', 'past'],
        ['any', 'namespace shop', '<none>', '2026-01-01T13:00:00Z', 'active', 'now'],
        ['any', 'app=db', '2026-01-02T00:00:00Z', '2026-01-02T01:00:00Z', 'pending', 'later'],
      ],
    );
    const listed = JSON.parse((await ran('silences', '-f', file, '-o', 'json')).out);
    assert.deepEqual([listed.length, listed[2].state, listed[2].match], [3, 'pending', { labels: 'app=db' }]);
  });
});
