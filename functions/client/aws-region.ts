/** The region of a deployed API: from its address, or where AWS's own tools find theirs. */

const regionPattern = /^[a-z]{2,8}(?:-[a-z]{2,10}){1,3}-\d{1,2}$/;
const hostPattern = /^[a-z0-9-]{1,63}\.execute-api\.([a-z0-9-]{1,30})\.amazonaws\.com(?:\.cn)?$/;

export const isRegion = (text: string): boolean => regionPattern.test(text);

/** undefined: the host is not API Gateway's own, such as a custom domain. */
export const regionOfHost = ({ hostname }: URL): string | undefined => hostPattern.exec(hostname)?.[1];

/** AWS_REGION, AWS_DEFAULT_REGION, or the region of the profile; undefined if none of them says it. */
export async function configuredRegion(profile: string | undefined): Promise<string | undefined> {
  const { loadConfig } = await import('@smithy/core/config');
  const region = await loadConfig<string>(
    {
      environmentVariableSelector: (env) => env.AWS_REGION ?? env.AWS_DEFAULT_REGION,
      configFileSelector: (found) => found.region,
      default: '',
    },
    profile === undefined ? {} : { profile },
  )();
  return region === '' ? undefined : region;
}
