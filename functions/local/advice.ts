/** Probes that `npm start` refuses by its options, for the answers to registrations. Its dial policy, allow list and secrets decide. */
import type { SecretHosts } from '../../shared/core/secret-hosts.ts';
import type { AllowList } from '../../shared/exec/allow-list.ts';
import type { ExecRefusal } from '../../shared/exec/exec.ts';
import { allowListRefusal } from '../../shared/exec/local.ts';
import type { DialPolicy } from '../../shared/net/net.ts';
import { dialPolicy, dialRefusal } from '../../shared/net/policy.ts';
import { type Advise, adviser } from '../../shared/prober/advice.ts';
import type { SecretRefusal } from '../../shared/prober/secret-headers.ts';
import { environmentSecrets, missingVariable } from './environment-secrets.ts';

type Given = {
  /** Absent: no `--allow-exec` was given. */
  readonly allowExec?: AllowList | undefined;
  /** Absent: no `--secret` was given. */
  readonly secretHosts?: SecretHosts | undefined;
};

/** For one process alone: it probes, and its environment holds the secrets. */
export function aloneAdvise({
  allowExec,
  secretHosts = new Map(),
  policy,
}: Given & { readonly policy: DialPolicy }): Advise {
  const { refusal } = environmentSecrets(secretHosts);
  return adviser({
    dialRefusal: dialRefusal(policy, dialRemedy),
    execRefusal: execRefusal(allowExec),
    secretRefusal: (reference, to) => refusal(reference, to) ?? missingVariable(reference),
  });
}

/** For a control process. The workers have other options and environments, so without an option it does not judge what the option allows. */
export function controlAdvise({ allowExec, secretHosts }: Given): Advise {
  const secretRefusal: SecretRefusal | undefined = secretHosts && environmentSecrets(secretHosts).refusal;
  return adviser({
    dialRefusal: dialRefusal(dialPolicy({ mode: 'local' }), dialRemedy),
    ...(allowExec && { execRefusal: execRefusal(allowExec) }),
    ...(secretRefusal && { secretRefusal }),
  });
}

const dialRemedy = () => 'no option allows it, so name another host';

function execRefusal(allowExec: AllowList | undefined): ExecRefusal {
  const refusal = allowListRefusal(allowExec);
  return (command) => {
    const why = refusal(command);
    return why && `${why}; a line for it in npm start -- --allow-exec FILE would allow it`;
  };
}
