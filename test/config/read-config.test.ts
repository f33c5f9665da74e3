/** The configuration file: each mistake is named with its place and field. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseConfig } from '../../shared/config/read-config.ts';

const receivers = 'receivers:\n  - name: ops\n    slack: { url: { env: SLACK_URL } }\n';

const problemsOf = (text: string): readonly string[] => {
  const read = parseConfig(text);
  return read.kind === 'config' ? [] : read.problems.map(({ line, column, detail }) => `${line}:${column} ${detail}`);
};

const alertWith = (field: string) =>
  problemsOf(`alerts:\n  - name: down\n    notify: [ops]\n    ${field}\n${receivers}`);

test('a file with everything is read', () => {
  const text = `
alerts:
  - name: down
    match:
      namespaces: [shop]
      labels: tier in (front), !test
      pattern: { detail: { target: { name: [{ prefix: web }] } } }
    for: 2m
    remind: 4h
    sendResolved: false
    onUnknown: true
    groupBy: [app]
    silences: [{ match: { names: [checkout] }, until: 2030-01-31T18:00:00Z, reason: upgrade }]
    notify: [hook, pd, og, am, teams, discord, ops, mail, siren]
receivers:
  - { name: hook, webhook: { url: https://hooks.test/a, secret: { file: /run/secrets/hook } } }
  - { name: pd, pagerduty: { routingKey: { env: PD_KEY } } }
  - { name: og, opsgenie: { apiKey: { env: OG_KEY }, url: https://api.eu.opsgenie.com/v2/alerts } }
  - { name: am, alertmanager: { url: http://127.0.0.1:9093 } }
  - { name: teams, teams: { url: { env: TEAMS } } }
  - { name: discord, discord: { url: { env: DISCORD } } }
  - { name: ops, slack: { url: { env: SLACK } } }
  - { name: mail, email: { host: smtp.test, user: u, password: { env: P }, from: a@b.test, to: [c@d.test] } }
  - { name: siren, exec: { command: [/usr/local/bin/siren, loud] } }
`;
  assert.deepEqual(problemsOf(text), []);
});

describe('a mistake is named', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['for: soon', '4:5 alerts[0].for: must be a duration of at most 720h, such as 30s, 5m or 1h30m'],
    ['remind: 1s', '4:5 alerts[0].remind: must be at least 10s'],
    ['fro: 1m', '4:5 alerts[0]: there is no field fro (did you mean for?)'],
    ['match: { labels: "a in" }', '4:14 alerts[0].match.labels: is no label selector: expected "(", found the end'],
    [
      'silences: [{ match: {}, until: tomorrow, reason: x }]',
      '4:29 alerts[0].silences[0].until: must be an instant in UTC, such as 2030-01-31T18:00:00Z',
    ],
    [
      'silences: [{ match: {}, from: 2030-01-31T18:00:00Z, until: 2030-01-31T18:00:00Z, reason: x }]',
      '4:57 alerts[0].silences[0].until: must be later than from',
    ],
    ['sendResolved: maybe', '4:5 alerts[0].sendResolved: must be true or false'],
  ];
  for (const [field, expected] of cases) test(field, () => assert.deepEqual(alertWith(field), [expected]));

  test('a field that belongs elsewhere, with those that may stand there', () => {
    assert.deepEqual(problemsOf('name: x\n'), [
      '1:1 the file: there is no field name; there are targets, alerts, receivers',
    ]);
  });

  const otherFormats: readonly (readonly [text: string, what: string])[] = [
    ['endpoints: [{ name: a, url: "http://a/" }]\n', 'a configuration of Gatus'],
    ['services: { web: { image: x } }\n', 'a Compose file'],
    ['apiVersion: v1\nkind: Pod\nmetadata: { name: a }\n', 'a manifest'],
    ['metadata: { name: a }\nspec: {}\n', 'a manifest'],
  ];
  for (const [text, what] of otherFormats)
    test(`${what} in place of a configuration`, () =>
      assert.deepEqual(problemsOf(text), [
        `1:1 is ${what}: name it in a configuration of probelet, as in "targets: [FILE]"`,
      ]));

  test('in a pattern', () => {
    const [problem = ''] = alertWith('match: { pattern: { detail: [] } }');
    assert.match(problem, /^4:14 alerts\[0\]\.match\.pattern: Event pattern is not valid at \/detail/);
  });
  test('a receiver that is not there', () => {
    const text = `alerts:\n  - { name: down, notify: [ops, ops2] }\n${receivers}`;
    assert.deepEqual(problemsOf(text), ['2:33 alerts[0].notify[1]: no receiver is named ops2']);
  });
  test('a receiver of two kinds, or none', () => {
    const [two = ''] = problemsOf(
      `alerts:\n  - { name: down, notify: [ops] }\n${receivers}    discord: { url: https://discord.test/x }\n`,
    );
    assert.match(two, /^4:5 receivers\[0\]: needs exactly one of .*; it has slack, discord$/);
  });
  test('a secret in the file itself', () => {
    const [problem = ''] = problemsOf(
      'alerts:\n  - { name: down, notify: [pd] }\nreceivers:\n  - { name: pd, pagerduty: { routingKey: R0UT1NG } }\n',
    );
    assert.match(problem, /routingKey: must be \{ env: NAME \} or \{ file: PATH \}/);
    assert.doesNotMatch(problem, /R0UT1NG/);
  });
  const mail = (fields: string) =>
    problemsOf(`receivers:\n  - { name: m, email: { host: h, from: a@b.test, ${fields} } }\n`);
  test('in a mail receiver', () => {
    assert.deepEqual(mail('to: ["Ops <c@d.test>"]'), [
      '2:55 receivers[0].email.to[0]: must be an address such as ops@example.org alone',
    ]);
    assert.deepEqual(mail('to: [c@d.test], user: u'), [
      '2:16 receivers[0].email: needs both user and password, or neither',
    ]);
    assert.deepEqual(mail('to: [c@d.test], user: u, password: { env: P }, tls: none'), [
      '2:97 receivers[0].email.tls: must not be none: a password would be readable',
    ]);
  });
  test('names that are used twice', () => {
    const text = `alerts:\n  - { name: down, notify: [ops] }\n  - { name: down, notify: [ops] }\n${receivers}`;
    assert.deepEqual(problemsOf(text), ['3:7 alerts[1].name: is not unique: down stands above']);
  });
  test('an empty file, several documents, and no YAML', () => {
    assert.deepEqual(problemsOf(''), ['1:1 is empty: it needs targets, or alerts and receivers']);
    assert.equal(problemsOf('a: 1\n---\nb: 2\n').length, 1);
    assert.equal(problemsOf('a: [').length > 0, true);
  });
});

describe('files of targets', () => {
  const withTargets = (entry: string) => problemsOf(`targets:\n  - ${entry}\n`);
  test('are names, or have a namespace and a host', () => {
    assert.deepEqual(withTargets('targets/*.yaml'), []);
    assert.deepEqual(withTargets('{ files: [a.yaml], namespace: shop, host: 10.0.0.7 }'), []);
  });
  const cases: readonly (readonly [string, string])[] = [
    ['5', '2:5 targets[0]: must be a file or glob, or { files: [...], namespace: NAME, host: ADDRESS }'],
    ['{ file: [a.yaml] }', '2:5 targets[0].files: is required'],
    ['{ files: [a], hots: x }', '2:19 targets[0]: there is no field hots (did you mean host?)'],
    [
      '{ files: [a], namespace: A_B }',
      '2:19 targets[0].namespace: must be lower-case letters, digits and -, at most 63',
    ],
    [
      '{ files: [a], host: "http://x" }',
      '2:19 targets[0].host: must be a host name or an IP address alone: put the scheme in httpGet.scheme (did you mean x?)',
    ],
  ];
  for (const [entry, expected] of cases) test(entry, () => assert.equal(withTargets(entry)[0], expected));
});

describe('no value is answered in words of the parser', () => {
  const parserWords = /Invalid|expected|received|Too (big|small)|Unrecognized|undefined/;
  const wrong = [7, -1, 1.5, true, null, '', 'x', [], [7], {}, { a: 1 }, 'x'.repeat(5_000)];
  type Schema = { readonly [key: string]: unknown };

  /** Each place of the published schema, as a document in which only that place is given. */
  const placesOf = (schema: Schema, wrap: (value: unknown) => unknown): readonly ((value: unknown) => unknown)[] => {
    const forms = [schema, ...((schema.anyOf ?? schema.oneOf ?? []) as readonly Schema[])];
    return forms.flatMap(({ properties = {}, items }) => [
      ...Object.entries(properties as Readonly<Record<string, Schema>>).flatMap(([name, member]) => {
        const within = (value: unknown) => wrap({ [name]: value });
        return [within, ...placesOf(member, within)];
      }),
      ...(items === undefined ? [] : placesOf(items as Schema, (value) => wrap([value]))),
    ]);
  };
  const schema = JSON.parse(readFileSync(new URL('../../docs/config.schema.json', import.meta.url), 'utf8'));
  const places = placesOf(schema, (value) => value);

  test(`in any of ${places.length} places`, () => {
    assert.ok(places.length > 50);
    const odd = places.flatMap((place) =>
      wrong.flatMap((value) => problemsOf(JSON.stringify(place(value))).filter((line) => parserWords.test(line))),
    );
    assert.deepEqual([...new Set(odd)].slice(0, 20), []);
  });
});
