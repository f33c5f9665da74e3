/** Passes the deployment's choices to the prober in environment variables, within Lambda's size limit. */
import type { Construct } from 'constructs';
import { execEnvironment, execNames } from './exec-runner.ts';
import type { ProbeletProps } from './props.ts';
import { secretEnvironment } from './secrets.ts';

type Variables = { readonly [name: string]: string };

/** The dial policy, the hosts for secrets, the runners for commands, the canaries, and how TLS is begun. */
export function proberEnvironment(scope: Construct, props: ProbeletProps): Variables {
  const { allowLoopback, execRunner, tlsSessionResumption } = props;
  return {
    ...textEnvironment(props),
    ...(allowLoopback && { PROBELET_ALLOW_LOOPBACK: '1' }),
    ...(tlsSessionResumption && { PROBELET_TLS_SESSION_RESUMPTION: '1' }),
    ...execEnvironment(scope, execRunner),
  };
}

/**
 * The part that the API needs to warn of probes that would be refused. It is smaller than the prober's and therefore
 * fits.
 */
export const adviceEnvironment = ({ allowCidrs, secrets, allowLoopback, execRunner }: ProbeletProps): Variables => ({
  ...textEnvironment({ ...(allowCidrs && { allowCidrs }), ...(secrets && { secrets }) }),
  ...(allowLoopback && { PROBELET_ALLOW_LOOPBACK: '1' }),
  ...execNames(execRunner),
});

const textEnvironment = ({ allowCidrs, canaries, secrets }: ProbeletProps): Variables => ({
  ...(allowCidrs && { PROBELET_ALLOW_CIDRS: allowCidrs.join(',') }),
  ...(canaries && { PROBELET_CANARIES: canaries.join(',') }),
  ...secretEnvironment(secrets),
});

/**
 * Lambda limits the size of all variables as one JSON object. The names of table, bus, queue, stage and release take
 * less than 1 KiB.
 */
export const chosenBytesMax = 4 * 1024 - 1024;

/** The longest ARN of a function, for ARNs that are unknown until deployment. */
const functionArn = `arn:aws-us-gov:lambda:us-gov-east-1:000000000000:function:${'n'.repeat(64)}`;

export function chosenBytes({ execRunner, ...props }: ProbeletProps): number {
  const arns = Object.keys(execRunner?.functions ?? {}).map((name) => [name, functionArn] as const);
  const runners = arns.length > 0 && { PROBELET_EXEC_FUNCTIONS: JSON.stringify(Object.fromEntries(arns)) };
  return Buffer.byteLength(JSON.stringify({ ...textEnvironment(props), ...runners }));
}
