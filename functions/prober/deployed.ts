/** The prober's ports on AWS, the same for the function and for a task, read from the environment. */
import { isMainThread } from 'node:worker_threads';
import { awsCall } from '../../shared/aws/aws-call.ts';
import { reachOf } from '../../shared/core/self/health.ts';
import { lambdaRunner } from '../../shared/exec/lambda.ts';
import { namedRunner } from '../../shared/exec/named.ts';
import { ssmRunner } from '../../shared/exec/ssm.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import { dialPolicy } from '../../shared/net/policy.ts';
import { tlsSessions } from '../../shared/prober/tls/sessions.ts';
import { sqsClient } from '../../shared/queue/sqs-call.ts';
import { awsSecrets } from '../../shared/secrets/aws.ts';
import { readEnvironment, serviceEndpoint } from '../lambda/environment.ts';
import { commonSettings, functionPorts } from '../lambda/ports.ts';
import { startWatchdog } from '../watchdog/watchdog.ts';
import type { ProberFunctionPorts } from './prober.ts';

/**
 * `entry`: the URL of the entry point, whose `rememberHang` the watchdog's thread imports. Starts the watchdog.
 *
 * @throws InvalidEnvironment naming every variable that is missing or wrong
 */
export function deployedProber(entry: string): ProberFunctionPorts {
  const { region, shardQueueUrl, release, canaries, ...given } = readEnvironment([
    ...commonSettings,
    ...(['region', 'shardQueueUrl', 'release', 'canaries'] as const),
    ...(['allowCidrs', 'allowLoopback', 'execFunctions', 'execSsm', 'secretHosts', 'tlsSessionResumption'] as const),
  ]);
  const client = sqsClient();
  const ports = functionPorts('prober', given);
  const { access } = ports;
  /** A line in the format of `functionLog`. */
  const line = { fields: { level: 'FATAL', service: 'prober' }, message: 'message', time: 'timestamp' };
  const remember = { module: entry, config: { table: given.table } };
  const watchdog = isMainThread ? startWatchdog({ log: ports.log, line, remember }) : undefined;
  const outside = (clock: Clock) => {
    const call = awsCall({ client, clock, access, endpointOf: (service) => serviceEndpoint(service, region) });
    const lambda = [...given.execFunctions].map(
      ([name, functionArn]) => [name, lambdaRunner({ call, clock, functionArn })] as const,
    );
    const ssm = (instanceId: string) => ssmRunner({ call, clock, instanceId });
    const run = namedRunner({ lambda: new Map(lambda), ...(given.execSsm && { ssm }) });
    return { run, secrets: awsSecrets({ call, clock, hosts: given.secretHosts }) };
  };
  return {
    ...ports,
    queue: { client, queueUrl: shardQueueUrl, access },
    policy: dialPolicy({ mode: 'aws', allowCidrs: given.allowCidrs, allowLoopback: given.allowLoopback }),
    canaries,
    release,
    outside,
    tlsSessions: given.tlsSessionResumption ? tlsSessions(ports.clock) : undefined,
    attribution: watchdog?.attribution,
    execReach: reachOf(new URL(serviceEndpoint('lambda', region)).hostname),
  };
}
