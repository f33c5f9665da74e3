/** What a deployment tells its prober of what it chose, and how much of that there is room for. */
import type { Construct } from 'constructs';
import { execEnvironment, execNames } from './exec-runner.ts';
import type { ProbeletProps } from './props.ts';
import { secretEnvironment } from './secrets.ts';

type Variables = { readonly [name: string]: string };

/** What may be dialed, where secrets may go, what runs commands, and what shows that the prober's own network is all right. */
export function proberEnvironment(scope: Construct, props: ProbeletProps): Variables {
  const { allowLoopback, execRunner } = props;
  return {
    ...textEnvironment(props),
    ...(allowLoopback && { PROBELET_ALLOW_LOOPBACK: '1' }),
    ...execEnvironment(scope, execRunner),
  };
}

/** What of it the API needs to warn of probes that can never run. It has less to say than the prober, and so room enough. */
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

/** Lambda measures all variables as one JSON object. Names of the table, the bus, the queue, the stage and the release take under 1 KiB. */
export const chosenBytesMax = 4 * 1024 - 1024;

/** An ARN of a function that is not known before it is deployed has so many bytes at most. */
const functionArn = `arn:aws-us-gov:lambda:us-gov-east-1:000000000000:function:${'n'.repeat(64)}`;

export function chosenBytes({ execRunner, ...props }: ProbeletProps): number {
  const arns = Object.keys(execRunner?.functions ?? {}).map((name) => [name, functionArn] as const);
  const runners = arns.length > 0 && { PROBELET_EXEC_FUNCTIONS: JSON.stringify(Object.fromEntries(arns)) };
  return Buffer.byteLength(JSON.stringify({ ...textEnvironment(props), ...runners }));
}
