/** Many targets written past the API, which is faster than registering them: each without probes. */
import type { TargetRecord } from '../../shared/core/spec/records.ts';
import { validateTargetSpec } from '../../shared/core/spec/validate-target.ts';
import { initialStatus } from '../../shared/core/status/target-status.ts';
import { changeCounted, encodeStatus, encodeTarget } from '../../shared/store/records/items.ts';
import { targetAddress } from '../../shared/store/records/keys.ts';
import { type Operation, operationsMax, type Store } from '../../shared/store/store.ts';
import { startMs } from './world.ts';

type Options = {
  readonly labelsOf?: (name: string) => TargetRecord['labels'];
  /** Whether each target has a STATUS item too, as if it had been registered. */
  readonly statuses?: boolean;
};

/** `t0` to `t<count - 1>`. */
export const manyNames = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`);

export async function writeTargets(
  { store }: { readonly store: Store },
  names: readonly string[],
  { labelsOf = () => ({}), statuses = false }: Options = {},
): Promise<void> {
  const validated = validateTargetSpec({ host: '127.0.0.1', containers: [{ name: 'main' }] });
  if (validated.kind === 'invalid') throw new Error('the spec of the test is not valid');
  const { spec } = validated;
  const addresses = new Map<string, ReturnType<typeof targetAddress>>();
  const puts = names.flatMap((name): readonly Operation[] => {
    const record = { namespace: 'default', name, labels: labelsOf(name), annotations: {}, spec, probeRequests: {} };
    const target = { ...record, uid: name, generation: 1, resourceVersion: 1, creationTimestampMs: startMs };
    const address = targetAddress('default', name);
    addresses.set(address.bucket, address);
    const status = statuses ? [encodeStatus(address, initialStatus(target, startMs))] : [];
    return [encodeTarget(address, target), ...status].map((item) => ({ kind: 'put', item }));
  });
  const operations = [...puts, ...[...addresses.values()].map((address) => changeCounted(address))];
  for (let at = 0; at < operations.length; at += operationsMax)
    await store.write(operations.slice(at, at + operationsMax), { token: `${at}` });
}
