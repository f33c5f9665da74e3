/** What has to be the same through a proxy that adds TLS. */
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Tally } from '../../support/tally.ts';
import { until } from '../../support/wait.ts';

export type Proxied = {
  readonly name: string;
  /** Where it speaks TLS, with a certificate for localhost. */
  readonly port: number;
  readonly authorization: string;
  /** Makes something happen of which an event is published. */
  readonly act: () => Promise<void>;
};

const patience = { withinMs: 30_000, pollMs: 100 };

export async function judgeProxy(proxied: Proxied, verdict: Tally['verdict']): Promise<void> {
  const { name, authorization } = proxied;
  await until(`${name} answers`, patience, async () => (await answerOf(proxied, '/healthz'))?.status === 200);
  verdict(`${name}: without the token 401`, (await answerOf(proxied, '/v1/targets'))?.status === 401);
  const listed = await answerOf(proxied, '/v1/targets', authorization);
  verdict(`${name}: the token passes`, listed?.status === 200 && listed.body.includes('"one"'));
  verdict(`${name}: an event arrives while the stream is open`, await isStreamed(proxied));
}

type Answer = { readonly status: number | undefined; readonly body: string };

/** undefined: there is none. */
const answerOf = (proxied: Proxied, path: string, authorization?: string): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const asked = request(optionsOf(proxied, path, authorization), (response) =>
      text(response).then(
        (body) => resolve({ status: response.statusCode, body }),
        () => resolve(undefined),
      ),
    );
    asked.on('error', () => resolve(undefined)).end();
  });

const optionsOf = ({ port }: Proxied, path: string, authorization?: string) => ({
  host: '127.0.0.1',
  port,
  path,
  servername: 'localhost',
  headers: { host: `localhost:${port}`, ...(authorization !== undefined && { authorization }) },
  rejectUnauthorized: false,
  agent: false as const,
});

/** Whether the id that begins the stream, and then an event, arrive although the answer has not ended. */
async function isStreamed(proxied: Proxied): Promise<boolean> {
  let received = '';
  let hasEnded = false;
  const asked = request(optionsOf(proxied, '/v1/watch', proxied.authorization), (response) => {
    response.setEncoding('utf8').on('data', (piece: string) => {
      received += piece;
    });
    response.on('end', () => {
      hasEnded = true;
    });
  });
  asked.on('error', () => undefined).end();
  await until('the stream begins', patience, () => received.includes('id: '));
  await proxied.act();
  await until('an event arrives', patience, () => received.includes('event: Target Status Changed'));
  asked.destroy();
  return !hasEnded;
}
