/** The paths and parameters that several operations share. */

export type NamedTarget = { readonly namespace: string; readonly name: string };

export const dryRunOf = (dryRun: boolean) => (dryRun ? { dryRun: 'true' } : {});

export const namespacePathOf = (namespace: string): string => `/v1/namespaces/${encodeURIComponent(namespace)}`;
export const targetsPathOf = (namespace: string): string => `${namespacePathOf(namespace)}/targets`;
export const targetPathOf = ({ namespace, name }: NamedTarget): string =>
  `${targetsPathOf(namespace)}/${encodeURIComponent(name)}`;

/** Pages of one list, or parts of one answer. What has more has no end. */
export const pagesMax = 100_000;
