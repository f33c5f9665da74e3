/**
 * Resolves secrets in probe headers on AWS from Systems Manager parameters and Secrets Manager secrets. The author of a
 * target chooses the secret's name, so only names with the reserved prefix are allowed, and only for hosts that the
 * deployment names, even if the function's role can read more.
 */
import { type AwsCall, awsJson, type JsonRequest } from '../aws/aws-call.ts';
import { type Destination, maySend, type SecretHosts, type SecretReference } from '../core/spec/secret-hosts.ts';
import type { Clock } from '../lib/clock.ts';
import { hostPort } from '../net/dial-failure.ts';
import type { ResolveSecret, Secret, SecretRefusal, Secrets } from './secrets.ts';

/** The deployment grants access to names with this prefix only. */
export const awsSecretPrefix = 'probelet/';

const timeoutMs = 1_500;

const services = { ssm: 'Systems Manager', secretsmanager: 'Secrets Manager' } as const;

export type AwsSecretOptions = { readonly call: AwsCall; readonly clock: Clock; readonly hosts: SecretHosts };

export function awsSecrets({ call, clock, hosts }: AwsSecretOptions): Secrets {
  return {
    resolve: resolveWith(call, clock),
    refusal: awsSecretRefusal(hosts),
  };
}

export function awsSecretRefusal(hosts: SecretHosts): SecretRefusal {
  return (reference, to) => {
    const asked = requestOf(reference);
    if (typeof asked === 'string') return asked;
    return maySend(hosts, reference, to) ? undefined : notAllowed(reference, to);
  };
}

function notAllowed({ source, name }: SecretReference, { host, port }: Destination): string {
  const to = hostPort(host, port);
  return `it may not be sent to ${to}; the deployment's secrets: { '${source}:${name}': ['${to}'] } would allow it`;
}

function resolveWith(call: AwsCall, clock: Clock): ResolveSecret {
  return async (reference) => {
    const asked = requestOf(reference);
    if (typeof asked === 'string') return none(asked);
    const answer = await awsJson(call, asked.request, clock.monotonicMs() + timeoutMs);
    const service = services[asked.request.service];
    switch (answer.kind) {
      case 'output': {
        const value = asked.valueIn(answer.output);
        return value === undefined ? none('it is no text') : { kind: 'value', value };
      }
      case 'error':
        return none(`${service}: ${answer.code}`);
      case 'denied':
        return none(`the prober has no right to read it from ${service}`);
      case 'tooLate':
        return none(`no answer of ${service} within ${timeoutMs} ms`);
      case 'unreachable':
        return none(`${service} cannot be reached: ${answer.message}`);
    }
  };
}

const none = (why: string): Secret => ({ kind: 'none', why });

type Output = Readonly<Record<string, unknown>>;
type Asked = { readonly request: JsonRequest; readonly valueIn: (output: Output) => string | undefined };

/** Returns the request, or the reason why the secret may not be read. */
function requestOf({ source, name }: SecretReference): Asked | string {
  switch (source) {
    case 'env':
      return 'on AWS secrets are ssm: or secretsmanager:';
    case 'ssm':
      if (!name.startsWith(`/${awsSecretPrefix}`)) return `its name has to begin with /${awsSecretPrefix}`;
      return {
        request: {
          service: 'ssm',
          target: 'AmazonSSM.GetParameter',
          input: { Name: name, WithDecryption: true },
          resource: name,
        },
        valueIn: ({ Parameter: parameter }) => textIn(parameter, 'Value'),
      };
    case 'secretsmanager':
      if (!name.startsWith(awsSecretPrefix)) return `its name has to begin with ${awsSecretPrefix}`;
      return {
        request: {
          service: 'secretsmanager',
          target: 'secretsmanager.GetSecretValue',
          input: { SecretId: name },
          resource: name,
        },
        valueIn: (output) => textIn(output, 'SecretString'),
      };
  }
}

function textIn(value: unknown, name: string): string | undefined {
  const found = typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
  return typeof found === 'string' ? found : undefined;
}
