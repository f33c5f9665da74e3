/** A header's value that stands for a secret: stored and shown as it is, replaced in the prober alone. */
export type SecretReference = {
  readonly source: 'env' | 'ssm' | 'secretsmanager';
  /** An environment variable's name, a parameter's name or a secret's id. */
  readonly name: string;
};

/** `env:NAME`, `ssm:/path/name`, `secretsmanager:id`; undefined: the value is meant literally. */
export function secretReference(value: string): SecretReference | undefined {
  const env = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1];
  if (env !== undefined) return { source: 'env', name: env };
  const [, source, name] = /^(ssm|secretsmanager):([A-Za-z0-9/_+=.@:-]+)$/.exec(value) ?? [];
  if (name === undefined) return undefined;
  return { source: source === 'ssm' ? 'ssm' : 'secretsmanager', name };
}
