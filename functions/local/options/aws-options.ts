/** The options that select the AWS services, or emulators, that several processes share. */
import { InvalidOption, validUrl } from './option-values.ts';

export type AwsOptions = {
  readonly table: string;
  readonly queueUrl: string;
  /** If absent, events go to status-sync only. */
  readonly bus?: string;
  /** Defaults to the environment's region. */
  readonly region?: string;
  /** Defaults to AWS's endpoints. */
  readonly endpoints: { readonly [service in AwsService]?: string };
};

export const awsServiceNames = ['dynamodb', 'sqs', 'eventbridge'] as const;

export type AwsService = (typeof awsServiceNames)[number];

export type GivenAwsOptions = {
  readonly table?: string | undefined;
  readonly 'queue-url'?: string | undefined;
  readonly bus?: string | undefined;
  readonly region?: string | undefined;
  readonly endpoint?: readonly string[] | undefined;
};

/** @throws InvalidOption */
export function awsOptions(given: GivenAwsOptions, mode: '--control' | '--worker'): AwsOptions {
  const { bus, region } = given;
  return {
    table: validTable(needed('table', given.table, mode)),
    queueUrl: validQueueUrl(needed('queue-url', given['queue-url'], mode)),
    endpoints: Object.assign({}, ...(given.endpoint ?? []).map(endpointsOf)),
    ...(bus !== undefined && { bus: notEmpty('bus', bus) }),
    ...(region !== undefined && { region: notEmpty('region', region) }),
  };
}

function needed(option: string, value: string | undefined, mode: string): string {
  if (value === undefined) throw new InvalidOption(`--${option}: is needed with ${mode}`);
  return value;
}

function notEmpty(option: string, value: string): string {
  if (value === '') throw new InvalidOption(`--${option}: is empty`);
  return value;
}

/** Source: naming rules in the DynamoDB Developer Guide. */
function validTable(name: string): string {
  if (!/^[\w.-]{3,255}$/.test(name))
    throw new InvalidOption(`--table: ${name} is not a table's name (3 to 255 letters, digits, _, - and .)`);
  return name;
}

function validQueueUrl(url: string): string {
  if (!validUrl('queue-url', url).endsWith('.fifo'))
    throw new InvalidOption(`--queue-url: ${url} is not a FIFO queue (its name ends in .fifo)`);
  return url;
}

/** Parses `URL` for all services, or `SERVICE=URL`. */
function endpointsOf(text: string): AwsOptions['endpoints'] {
  const [, name, url = text] = /^([a-z]+)=(.*)$/.exec(text) ?? [];
  const valid = validUrl('endpoint', url);
  if (name === undefined) return Object.fromEntries(awsServiceNames.map((service) => [service, valid]));
  if (awsServiceNames.some((service) => service === name)) return { [name]: valid };
  throw new InvalidOption(`--endpoint: ${name} is none of ${awsServiceNames.join(', ')}`);
}
