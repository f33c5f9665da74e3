/**
 * Finds probes that the deployed prober would refuse, for the answers to registrations. The API receives names and
 * hosts, never a secret.
 */

import type { ExecRefusal } from '../../shared/exec/exec.ts';
import { namedRefusal, type RunnerNames } from '../../shared/exec/named.ts';
import { dialPolicy, dialRefusal } from '../../shared/net/policy.ts';
import { type Advise, adviser } from '../../shared/prober/advice.ts';
import { awsSecretRefusal } from '../../shared/secrets/aws.ts';
import type { Environment } from '../lambda/environment.ts';

type Deployed = Pick<Environment, 'allowCidrs' | 'allowLoopback' | 'execNames' | 'execSsm' | 'secretHosts'>;

export function deployedAdvise(deployed: Deployed): Advise {
  const { allowCidrs, allowLoopback, execNames, execSsm, secretHosts } = deployed;
  return adviser({
    dialRefusal: dialRefusal(dialPolicy({ mode: 'aws', allowCidrs, allowLoopback }), dialRemedy),
    execRefusal: execRefusal({ lambda: execNames, ssm: execSsm }),
    secretRefusal: awsSecretRefusal(secretHosts),
  });
}

/** The widest policy that `allowCidrs` can configure. */
const widest = dialPolicy({ mode: 'aws', allowCidrs: ['0.0.0.0/0', '::/0'] });

const dialRemedy = (address: string): string =>
  widest(address)
    ? "the deployment's allowCidrs would allow it, with a range that holds it"
    : 'no setting of the deployment allows it, so name another host';

function execRefusal(names: RunnerNames): ExecRefusal {
  const refusal = namedRefusal(names);
  return (command) => {
    const why = refusal(command);
    return why && `${why}; the deployment's execRunner names what runs commands`;
  };
}
