/** Requests to an API on AWS: in which region and with whose credentials they are signed. */
import { configuredRegion, regionOfHost } from '../../client/aws-region.ts';
import type { Signer } from '../../client/aws-signer.ts';
import type { Io } from '../io.ts';
import { CliError } from '../words/exit-codes.ts';

/** How requests say who asks: by a signature of AWS, by a token, or not at all. */
export const authKinds = ['aws', 'token', 'none'] as const;
export type AuthKind = (typeof authKinds)[number];

/** Absent: as AWS's own tools are configured. */
export type AwsAccess = { readonly region?: string | undefined; readonly profile?: string | undefined };

/** Its secrets are never printed. `service`: absent for the API. */
export async function signerOf(
  io: Io,
  access: AwsAccess,
  region: string,
  timeoutMs: number,
  service?: string,
): Promise<Signer> {
  const { awsSigner } = await import('../../client/aws-signer.ts');
  const { profile } = access;
  const signer = awsSigner({ region, service, profile, timeoutMs, clock: io.clock });
  io.hide(signer.secrets);
  return signer;
}

/** The region of a host of API Gateway is in its name. @throws CliError if nothing says it */
export async function regionOf({ region, profile }: AwsAccess, url?: URL): Promise<string> {
  const known = region ?? (url && regionOfHost(url)) ?? (await configuredRegion(profile));
  if (known !== undefined) return known;
  throw new CliError("no AWS region is configured: set AWS_REGION, or name it by 'probelet context add … --region'");
}
