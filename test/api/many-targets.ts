/** Many targets written past the API, which is faster than registering them: TARGET items alone. */
import type { TargetRecord } from '../../shared/core/records.ts';
import { validateTargetSpec } from '../../shared/core/validate-target.ts';
import { changeCounted, encodeTarget } from '../../shared/store/items.ts';
import { targetAddress } from '../../shared/store/keys.ts';
import { type Operation, operationsMax } from '../../shared/store/store.ts';
import { startMs, type World } from './world.ts';

const specOf = (host: string) => {
  const validated = validateTargetSpec({ host, containers: [{ name: 'main' }] });
  if (validated.kind === 'invalid') throw new Error('the spec of the test is not valid');
  return validated.spec;
};

/** Targets `t0` to `t<count - 1>`, each with the labels that `labelsOf` gives its name. */
export async function writeTargets(
  { store }: World,
  count: number,
  labelsOf: (name: string) => TargetRecord['labels'] = () => ({}),
): Promise<void> {
  const spec = specOf('127.0.0.1');
  const names = Array.from({ length: count }, (_, index) => `t${index}`);
  const addresses = names.map((name) => targetAddress('default', name));
  const inUse = new Map(addresses.map((address) => [address.bucket, address]));
  const puts = names.map((name, index): Operation => {
    const record = { namespace: 'default', name, labels: labelsOf(name), annotations: {}, spec, probeRequests: {} };
    const target = { ...record, uid: name, generation: 1, resourceVersion: 1, creationTimestampMs: startMs };
    return { kind: 'put', item: encodeTarget(addresses[index] ?? targetAddress('default', name), target) };
  });
  const operations = [...puts, ...[...inUse.values()].map((address) => changeCounted(address))];
  for (let at = 0; at < operations.length; at += operationsMax)
    await store.write(operations.slice(at, at + operationsMax), { token: `${at}` });
}
