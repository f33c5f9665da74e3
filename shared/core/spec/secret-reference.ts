/** A header value that refers to a secret. It is stored and shown as it is; only the prober replaces it. */
export type SecretReference = {
  readonly source: 'env' | 'ssm' | 'secretsmanager';
  /** An environment variable's name, a parameter's name or a secret's id. */
  readonly name: string;
};

/** `env:NAME`, `ssm:/path/name`, `secretsmanager:id`; undefined: the value is literal. */
export function secretReference(value: string): SecretReference | undefined {
  const env = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1];
  if (env !== undefined) return { source: 'env', name: env };
  const [, source, name] = /^(ssm|secretsmanager):([A-Za-z0-9/_+=.@:-]+)$/.exec(value) ?? [];
  if (name === undefined) return undefined;
  return { source: source === 'ssm' ? 'ssm' : 'secretsmanager', name };
}
