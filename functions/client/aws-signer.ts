/** Signs requests with the credentials that AWS's own tools find: environment, profiles, single sign-on, instance. */
import type { Clock } from '../../shared/lib/clock.ts';
import { ClientError } from './client-error.ts';

export type Signer = {
  /** All headers to send. @throws ClientError if there are no usable credentials */
  sign(request: Signable): Promise<Headers>;
  /**
   * What only this client and AWS may know: keys and session tokens, and signatures, by which a request can be repeated
   * for five minutes. Of those that were used last.
   */
  secrets(): readonly string[];
  /** For error lines: `region eu-west-1, profile dev`. */
  readonly scope: string;
};

/** Finds the credentials again when they have expired. */
export type CredentialProvider = () => Promise<AwsCredentials>;

export type SignerOptions = {
  readonly region: string;
  /** As in a credential scope; without it that of API Gateway. */
  readonly service?: string | undefined;
  /** A profile of the shared configuration; without it the SDK's default. */
  readonly profile?: string | undefined;
  /** Replaces the SDK's default chain. */
  readonly credentials?: CredentialProvider;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** How long finding the credentials may take. */
  readonly timeoutMs: number;
};

/** Each request has a signature; credentials change every hour or so. */
const secretsMax = { credentials: 4, signatures: 32 } as const;

/** Asks for credentials at the first request. */
export function awsSigner(options: SignerOptions): Signer {
  const { region, service = 'execute-api', profile, clock, timeoutMs } = options;
  let provider = options.credentials;
  const used = { credentials: new Set<string>(), signatures: new Set<string>() };
  return {
    scope: `region ${region}${profile === undefined ? '' : `, profile ${profile}`}`,
    async sign(request) {
      provider ??= await defaultCredentials(profile);
      const credentials = await findCredentials(provider, profile, timeoutMs);
      const nowMs = clock.nowMs();
      requireCurrent(credentials, nowMs);
      const { secretAccessKey, sessionToken } = credentials;
      for (const each of [secretAccessKey, sessionToken])
        if (each !== undefined) remember(used.credentials, each, secretsMax.credentials);
      const headers = await signedHeaders(request, { credentials, region, service, nowMs });
      remember(used.signatures, signatureIn(headers), secretsMax.signatures);
      return headers;
    },
    secrets: () => [...used.credentials, ...used.signatures],
  };
}

/** The newest is last; the one that was used longest ago goes. */
function remember(kept: Set<string>, secret: string, countMax: number): void {
  kept.delete(secret);
  kept.add(secret);
  const [oldest] = kept;
  if (kept.size > countMax && oldest !== undefined) kept.delete(oldest);
}

/** The SDK's default chain, which remembers what it found. A profile precedes the environment. */
export async function defaultCredentials(profile: string | undefined): Promise<CredentialProvider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider({ ...(profile !== undefined && { profile }), logger: silent });
}

/** Otherwise the chain warns on the console of a profile that is set beside keys. */
const ignored = (): void => undefined;
const silent = { trace: ignored, debug: ignored, info: ignored, warn: ignored, error: ignored };

/** @throws ClientError that names the SDK's reason */
async function findCredentials(
  provider: CredentialProvider,
  profile: string | undefined,
  timeoutMs: number,
): Promise<AwsCredentials> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const late = new Promise<never>((_, reject) =>
    timeout.addEventListener('abort', () => reject(new Error(`none within ${timeoutMs / 1_000} s`))),
  );
  try {
    return await Promise.race([provider(), late]);
  } catch (error) {
    const [reason = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    const whose = profile === undefined ? '' : ` for profile ${profile}`;
    const next = "log in, such as by 'aws sso login', or name a profile by AWS_PROFILE";
    throw new ClientError('unauthorized', `no AWS credentials${whose} (${reason.replace(/\.$/, '')}): ${next}`);
  }
}

function requireCurrent({ expiration }: AwsCredentials, nowMs: number): void {
  if (expiration === undefined || expiration.getTime() > nowMs) return;
  throw new ClientError('unauthorized', `the AWS credentials expired at ${expiration.toISOString()}: ${loginAgain}`);
}

const loginAgain = "log in again, such as by 'aws sso login'";

/** What AWS calls its refusal of credentials that have expired: it depends on the service. */
export const expiredCodes: readonly string[] = ['ExpiredTokenException', 'ExpiredToken'];

/** What to say then. */
export const expiredCredentials = `the AWS credentials have expired: ${loginAgain}`;

/** AWS refuses a signature that is 5 min away from its own time. */
const skewMsMax = 5 * 60_000;

/**
 * The next step after AWS has refused a signature.
 * @param code AWS's name of the refusal; empty, as from HTTP APIs of API Gateway, if it does not say
 * @param skewMs how far this machine's clock is ahead
 */
export function refusedSignature(code: string, skewMs: number): string {
  const minutes = Math.round(Math.abs(skewMs) / 60_000);
  if (Math.abs(skewMs) > skewMsMax)
    return `the clock of this machine is ${minutes} min ${skewMs > 0 ? 'ahead' : 'behind'}: correct it`;
  if (expiredCodes.includes(code)) return expiredCredentials;
  switch (code) {
    case 'UnrecognizedClientException':
    case 'InvalidClientTokenId':
      return 'AWS does not know the access key: choose other credentials by AWS_PROFILE';
    case 'InvalidSignatureException':
    case 'SignatureDoesNotMatch':
      return 'the secret access key is wrong: choose other credentials by AWS_PROFILE';
    default:
      return 'check the account and the region, and that the caller may invoke the route (execute-api:Invoke)';
  }
}

// Signature Version 4 of a request ("Signing AWS API requests" in the IAM User Guide), by the SDK's own signer.

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
