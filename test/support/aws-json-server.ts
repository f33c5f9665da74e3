/** A server that answers calls of AWS as it is set to, and holds their signatures against the specification. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Call = {
  readonly path: string;
  /** `X-Amz-Target`. */
  readonly target: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly isSigned: boolean;
};

export type Answer = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
};

/** `'silence'`: no answer at all. */
export type Script = (call: Call) => Answer | 'silence';

export const serverKeys = { accessKeyId: 'local', secretAccessKey: 'local-secret' };

export async function awsServer(script: Script) {
  const calls: Call[] = [];
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request;
    const body = await text(request);
    const call = {
      path,
      target: String(headers['x-amz-target'] ?? ''),
      headers,
      body,
      isSigned: isSigned(request, body),
    };
    calls.push(call);
    const answer = script(call);
    if (answer === 'silence') return;
    const { status = 200, headers: more = {}, body: answered } = answer;
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1', ...more });
    response.end(typeof answered === 'string' ? answered : JSON.stringify(answered));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    calls,
    endpoint: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** "Create a signed AWS API request", AWS Identity and Access Management, step by step. */
function isSigned({ method, url = '', headers }: IncomingMessage, body: string): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/((\d{8})\/([\w-]+)\/(\w+)\/aws4_request), ?SignedHeaders=([\w;-]+), ?Signature=(\w+)$/.exec(
      headers.authorization ?? '',
    );
  const [, key, scope = '', date = '', region = '', service = '', signedHeaders = '', signature] = match ?? [];
  if (key !== serverKeys.accessKeyId || !signedHeaders.split(';').includes('host')) return false;
  const canonicalHeaders = signedHeaders.split(';').map((name) => `${name}:${String(headers[name]).trim()}\n`);
  // The path as it is sent, each segment encoded once more: every service but S3.
  const path = url.split('/').map(encodeURIComponent).join('/');
  const canonical = [method, path, '', canonicalHeaders.join(''), signedHeaders, hash(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hash(canonical)].join('\n');
  const parts = [date, region, service, 'aws4_request'];
  const signingKey = parts.reduce<string | Buffer>((so, part) => hmac(so, part), `AWS4${serverKeys.secretAccessKey}`);
  return hmac(signingKey, toSign).toString('hex') === signature;
}

const hash = (value: string): string => createHash('sha256').update(value).digest('hex');
const hmac = (key: string | Buffer, value: string): Buffer => createHmac('sha256', key).update(value).digest();
