/** Signature Version 4 of a request ("Signing AWS API requests" in the IAM User Guide), by the SDK's own signer. */

export type AwsCredentials = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
};

export type Headers = { readonly [name: string]: string };

/** `headers`: in lower case, without the host. */
export type Signable = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string;
};

export type SignatureScope = {
  readonly credentials: AwsCredentials;
  readonly region: string;
  /** As in a credential scope, such as `execute-api`. */
  readonly service: string;
  readonly nowMs: number;
};

/** A proxy may change it. */
const unsigned: ReadonlySet<string> = new Set(['accept']);

/** All headers to send. The signer is loaded on demand: most commands need none. */
export async function signedHeaders({ method, url, headers, body }: Signable, scope: SignatureScope): Promise<Headers> {
  const { SignatureV4 } = await import('@smithy/signature-v4');
  const { Sha256 } = await import('@smithy/core/checksum');
  const { credentials, region, service, nowMs } = scope;
  // API Gateway and CloudFormation hash the body themselves, so no header needs to say its hash.
  const signer = new SignatureV4({ credentials, region, service, sha256: Sha256, applyChecksum: false });
  const signed = await signer.sign(
    {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: { ...headers, host: url.host },
      body,
    },
    { signingDate: new Date(nowMs), unsignableHeaders: new Set(unsigned) },
  );
  return signed.headers;
}

const signatureStart = 'Signature=';

/** The signature of signed headers: the last part of the authorization. */
export function signatureIn({ authorization = '' }: Headers): string {
  return authorization.slice(authorization.lastIndexOf(signatureStart) + signatureStart.length);
}
