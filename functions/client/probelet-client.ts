/** The client as programs make it: time and chance are the machine's own. */
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { type ApiClient, apiClient } from './api-client.ts';
import { regionOfHost } from './aws-region.ts';
import { awsSigner, type CredentialProvider, type Signer } from './aws-signer.ts';

export type ClientSettings = {
  /** Where the API is. With a Unix socket, any http URL. */
  readonly url: string | URL;
  /** The path of a Unix socket, which is dialed in place of the host. */
  readonly socketPath?: string;
  /** What the server was started with by `--token-file`. */
  readonly token?: string;
  /** Signs each request to an API on AWS, in place of a token. */
  readonly aws?: AwsSettings;
  /** The time-out of one attempt of a request; 30 s if absent. GET, PUT and DELETE have three attempts. */
  readonly timeoutMs?: number;
  /** Ends every request and every watch. */
  readonly signal?: AbortSignal;
};

export type AwsSettings = {
  /** If absent, that of the address, which has to be one of API Gateway. */
  readonly region?: string;
  /** A profile of the shared configuration. */
  readonly profile?: string;
  /** Replaces the SDK's default chain. */
  readonly credentials?: CredentialProvider;
};

const timeoutMsDefault = 30_000;

/**
 * Opens no connection before the first request. Close it when it is done with. `HTTPS_PROXY`, `HTTP_PROXY` and
 * `NO_PROXY` are obeyed.
 *
 * @throws TypeError if `url` is no http or https URL
 * @throws RangeError if `aws` needs a region
 */
export function probeletClient(settings: ClientSettings): ApiClient {
  const { socketPath, token, aws, signal, timeoutMs = timeoutMsDefault } = settings;
  const url = new URL(settings.url);
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`url: ${url.protocol} is neither http nor https`);
  return apiClient({
    url,
    socketPath,
    token,
    signer: aws && signerFor(url, aws, timeoutMs),
    stop: signal,
    timeoutMs,
    clock: systemClock,
    random: systemRandom,
    env: process.env,
  });
}

function signerFor(url: URL, { region = regionOfHost(url), ...aws }: AwsSettings, timeoutMs: number): Signer {
  if (region === undefined) throw new RangeError(`aws.region: ${url.host} does not say its region, so name it`);
  return awsSigner({ ...aws, region, timeoutMs, clock: systemClock });
}
