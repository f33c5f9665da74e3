/** Signatures of requests against those that AWS publishes ("Signature Version 4 test suite", as in aws-c-auth). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Signable, signedHeaders } from '../../../functions/client/aws-signer.ts';

/** AWS's own example, which is no key of an account. */
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const sessionToken = '6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267';
const form = { 'content-type': 'application/x-www-form-urlencoded' };

type Vector = Partial<Signable> & {
  readonly path: string;
  readonly token?: string;
  readonly signed: string;
  readonly signature: string;
};

const vectors: Readonly<Record<string, Vector>> = {
  'get-vanilla': {
    path: '/',
    signed: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  'get-unreserved': {
    path: '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
    signed: 'host;x-amz-date',
    signature: '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  },
  'get-vanilla-query-order-key-case': {
    path: '/?Param2=value2&Param1=value1',
    signed: 'host;x-amz-date',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  'get-vanilla-query-order-encoded': {
    path: '/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1',
    signed: 'host;x-amz-date',
    signature: '371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac',
  },
  'get-header-value-trim': {
    path: '/',
    headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
    signed: 'host;my-header1;my-header2;x-amz-date',
    signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
  },
  'get-vanilla-with-session-token': {
    path: '/',
    token: sessionToken,
    signed: 'host;x-amz-date;x-amz-security-token',
    signature: '07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8',
  },
  'post-vanilla': {
    method: 'POST',
    path: '/',
    signed: 'host;x-amz-date',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  'post-x-www-form-urlencoded': {
    method: 'POST',
    path: '/',
    headers: form,
    body: 'Param1=value1',
    signed: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
};

for (const [name, { method = 'GET', path, headers = {}, body, token, signed, signature }] of Object.entries(vectors))
  test(name, async () => {
    const url = new URL(path, 'https://example.amazonaws.com');
    const sent = await signedHeaders(
      { method, url, headers: { ...headers, accept: 'application/json' }, ...(body !== undefined && { body }) },
      {
        credentials: { ...credentials, ...(token !== undefined && { sessionToken: token }) },
        region: 'us-east-1',
        service: 'service',
        nowMs: Date.UTC(2015, 7, 30, 12, 36),
      },
    );
    assert.equal(sent['x-amz-date'], '20150830T123600Z');
    assert.equal(
      sent.authorization,
      `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
    );
  });
