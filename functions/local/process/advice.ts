/**
 * Finds probes that `npm start` would refuse by its dial policy, allow list or secrets, for the answers to
 * registrations.
 */
import type { SecretHosts } from '../../../shared/core/spec/secret-hosts.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import type { ExecRefusal } from '../../../shared/exec/exec.ts';
import { allowListRefusal } from '../../../shared/exec/local.ts';
import type { DialPolicy } from '../../../shared/net/net.ts';
import { dialPolicy, dialRefusal } from '../../../shared/net/policy.ts';
import { type Advise, adviser } from '../../../shared/prober/advice.ts';
import type { SecretRefusal } from '../../../shared/secrets/secrets.ts';
import { environmentSecrets, missingVariable } from './environment-secrets.ts';

type Given = {
  /** Absent without `--allow-exec`. */
  readonly allowExec?: AllowList | undefined;
  /** Absent without `--secret`. */
  readonly secretHosts?: SecretHosts | undefined;
};

/** For a single process, which probes itself and has the secrets in its environment. */
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

/**
 * For a control process. Its workers have other options and environments, so it judges commands and secrets only if it
 * was given their option.
 */
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
