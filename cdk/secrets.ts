/**
 * Grants the prober the secrets for probe headers that the deployment names, with the hosts to which each may be sent.
 */
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { type SecretHostTexts, secretVariable } from '../functions/secret-variable.ts';
import { secretReference } from '../shared/core/spec/secret-hosts.ts';
import { awsSecretPrefix } from '../shared/secrets/aws.ts';
import { allow } from './statement.ts';

/** The functions read no secret without this prefix. */
export function isGrantable(text: string): boolean {
  const reference = secretReference(text);
  if (reference?.source === 'ssm') return reference.name.startsWith(`/${awsSecretPrefix}`);
  return reference?.source === 'secretsmanager' && reference.name.startsWith(awsSecretPrefix);
}

/** The format is defined in functions/lambda/environment.ts. */
export const secretEnvironment = (secrets: SecretHostTexts | undefined): { readonly [name: string]: string } =>
  secrets ? { PROBELET_SECRETS: secretVariable(secrets) } : {};

export function secretStatements(scope: Construct, secrets: SecretHostTexts = {}): readonly PolicyStatement[] {
  const stack = Stack.of(scope);
  const names = (source: 'ssm' | 'secretsmanager') =>
    Object.keys(secrets).flatMap((text) => {
      const reference = secretReference(text);
      return reference?.source === source ? [reference.name] : [];
    });
  const parameters = names('ssm').map((name) =>
    stack.formatArn({ service: 'ssm', resource: 'parameter', resourceName: name.slice(1) }),
  );
  // Secrets Manager appends a hyphen and six characters to the name.
  const kept = names('secretsmanager').map((name) =>
    stack.formatArn({
      service: 'secretsmanager',
      resource: 'secret',
      resourceName: `${name}-??????`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    }),
  );
  return [
    ...(parameters.length > 0 ? [allow('Parameters', ['ssm:GetParameter'], parameters)] : []),
    ...(kept.length > 0 ? [allow('Secrets', ['secretsmanager:GetSecretValue'], kept)] : []),
  ];
}
