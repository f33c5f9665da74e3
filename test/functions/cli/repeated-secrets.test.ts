/** Credentials that a server repeats, in whatever it answers, are neither printed nor in the errors of a client. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { awsSigner } from '../../../functions/client/aws-signer.ts';
import { ClientError, probeletClient } from '../../../package/client.ts';
import { targetViewSchema } from '../../../shared/api/schema/target-schema.ts';
import { ordinaryValue } from '../../support/hostile-text.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type Ran, ranCli } from './run.ts';
import { foreignServer } from './served.ts';

const token = 'T0K3N-"of\\the-server';
const shown = ({ out, err }: Ran): string => out + err.join('\n');

type Answer = readonly [status: number, type: string, body: unknown];

const problemWith = (said: string) => ({
  type: 'urn:probelet:problem:x',
  title: said,
  detail: said,
  errors: [{ pointer: said, detail: said }],
});

/** What a server says where it has room for a text: `word` fits into a header. */
const repetitions: { readonly [where: string]: (said: string, word: string, path: string) => Answer } = {
  'in a refusal': (said) => [422, 'application/problem+json', problemWith(said)],
  'in the type of another answer': (_, word) => [200, `text/${word}`, ''],
  'in every field': (said, _, path) => {
    const target = JSON.parse(JSON.stringify(ordinaryValue(targetViewSchema)).replaceAll('"a"', JSON.stringify(said)));
    if (path.includes('/events')) return [200, 'application/json', { items: [] }];
    const body = /targets(\?|$)/.test(path) ? { metadata: {}, items: [target] } : target;
    return [200, 'application/json', body];
  },
};

const calls = [
  ['get', 'targets'],
  ['describe', 'target/a'],
  ['delete', 'target/a'],
  ['doctor'],
  ['version'],
  ['wait', 'target/a', '--for=delete'],
  ['get', 'target/a', '-o', 'json'],
  ['get', 'target/a', '-o', 'yaml'],
  ['events', 'a'],
];

describe('a token that the server repeats', () => {
  const said = `no, not with Bearer ${token} nor ${token}`;
  const word = token.replaceAll(/["\\]/g, '');

  for (const [where, answer] of Object.entries(repetitions))
    test(`${where} is not printed`, async () => {
      const url = await foreignServer((request, response) => {
        const [status, type, body] = answer(said, word, request.url ?? '');
        response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
      });
      for (const args of calls) {
        const given = where.includes('type') ? word : token;
        const ran = await ranCli(args, { env: { PROBELET_URL: url, PROBELET_TOKEN: given, HOME: temporaryFolder() } });
        assert.doesNotMatch(shown(ran), /T0K3N/, `${args.join(' ')}: ${shown(ran)}`);
        assert.notEqual(shown(ran), '');
      }
    });

  test('is not in the error of a client', async (t) => {
    const url = await foreignServer((_, response) =>
      response.writeHead(422, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problemWith(said))),
    );
    const client = probeletClient({ url, token });
    t.after(() => client.close());
    await assert.rejects(client.health(), (error) => error instanceof ClientError && !error.message.includes('T0K3N'));
  });
});

describe('credentials of AWS that the server repeats', () => {
  const sessionToken = 'S3SS10N/of+the==role';
  const secretAccessKey = 'S3CR3T/of+the/access+key';
  before(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
    Object.assign(process.env, {
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
      AWS_REGION: 'eu-west-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      AWS_CONFIG_FILE: '/dev/null',
    });
  });
  after(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name];
  });

  /** Answers with the headers of the request; `words`: the secrets that have come to it. */
  const repeating = async (answer: (said: string, word: string, path: string) => Answer) => {
    const words = new Set<string>([secretAccessKey]);
    const url = await foreignServer((request, response) => {
      const { authorization = '', 'x-amz-security-token': sent = '' } = request.headers;
      const signature = /Signature=([0-9a-f]{64})/.exec(authorization)?.[1] ?? '';
      for (const each of [String(sent), signature]) if (each !== '') words.add(each);
      // The credentials are found for the first request that is signed.
      const said = `no, not ${authorization}, ${sent}, ${signature}${sent === '' ? '' : ` and ${secretAccessKey}`}`;
      const [status, type, body] = answer(said, `${sent}-${signature}`, request.url ?? '');
      response.writeHead(status, { 'content-type': type, 'x-amzn-errortype': String(sent) }).end(JSON.stringify(body));
    });
    return { url, words };
  };
  const requireHidden = (text: string, words: ReadonlySet<string>) => {
    assert.ok(words.has(sessionToken), 'it was not sent');
    for (const word of words) assert.ok(!text.includes(word), `${word} is in ${text}`);
  };
  const gateway = (said: string): Answer => [403, 'application/json', { message: said }];

  for (const [where, answer] of Object.entries({ ...repetitions, 'in a refusal of API Gateway': gateway }))
    test(`${where} are not printed`, async () => {
      const { url, words } = await repeating(answer);
      for (const args of calls.filter(([command]) => command !== 'version')) {
        const ran = await ranCli([...args, '--server', url, '--auth', 'aws'], { env: { HOME: temporaryFolder() } });
        requireHidden(shown(ran), words);
        assert.notEqual(shown(ran), '');
      }
    });

  for (const where of ['in a refusal', 'in the type of another answer'])
    test(`${where} are not in the error of a client`, async (t) => {
      const { url, words } = await repeating(repetitions[where] ?? assert.fail(where));
      const credentials = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey, sessionToken });
      const client = probeletClient({ url, aws: { region: 'eu-west-1', credentials } });
      t.after(() => client.close());
      const watch = async () => {
        for await (const _ of client.watch({})) assert.fail();
      };
      for (const call of [() => client.target({ namespace: 'a', name: 'a' }), watch]) {
        const error = await call().then(
          () => assert.fail('it answered'),
          (thrown: unknown) => thrown,
        );
        assert.ok(error instanceof ClientError, String(error));
        requireHidden(error.message, words);
      }
    });

  test('in what CloudFormation says are not printed', async () => {
    for (const [status, body] of [
      [403, (said: string) => `<Code>${said}</Code>`],
      [200, (said: string) => `<Outputs><member><OutputKey>${said}</OutputKey><OutputValue>a</OutputValue></Outputs>`],
    ] as const) {
      const { url, words } = await repeating((said) => [status, 'text/xml', body(said)]);
      const env = { HOME: temporaryFolder(), AWS_ENDPOINT_URL: url };
      const ran = await ranCli(['context', 'add', 'a', '--stack', 'Stack'], { env });
      assert.equal(ran.code === 0, false, shown(ran));
      requireHidden(shown(ran), words);
    }
  });

  test('are hidden for those that were used last, however many have been', async () => {
    let asked = 0;
    const credentials = async () => {
      asked += 1;
      return { accessKeyId: 'A', secretAccessKey, sessionToken: `session-${asked}` };
    };
    const options = { region: 'eu-west-1', clock: { nowMs: () => 0 }, timeoutMs: 5_000, credentials };
    const signer = awsSigner(options);
    for (let times = 0; times < 200; times += 1)
      await signer.sign({ method: 'GET', url: new URL('https://a.test'), headers: {} });
    const secrets = signer.secrets();
    assert.ok(secrets.length <= 100, `${secrets.length}`);
    for (const each of [secretAccessKey, 'session-200', 'session-199']) assert.ok(secrets.includes(each), each);
  });
});
