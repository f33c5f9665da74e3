/** Answers another process that doubts what it sees: probes a sample of its targets from here, and says so in RUN. */
import { probeName, specProbes } from '../core/spec.ts';
import { probe as runProbe } from '../prober/probe.ts';
import type { LookMessage, SampledProbe } from '../queue/queue.ts';
import { runKey, targetAddress } from '../store/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { readTarget } from '../table/targets.ts';
import { writeSurely } from '../table/write.ts';
import { beatConditions } from './beat.ts';
import { fencedPorts, type Ports } from './ports.ts';
import { orderOf } from './probing/held-spec.ts';

/**
 * A target that is gone, no longer has the probe or cannot be read counts as neither, as does a prober error.
 *
 * @throws StoreUnavailable: the one that asked believes itself
 */
export async function answerLook(ports: Ports, { shard, token, number, sample }: LookMessage): Promise<void> {
  const results = await Promise.all(sample.map((one) => resultOf(ports, one)));
  const count = (result: string) => results.filter((one) => one === result).length;
  const look = { token, number, failed: count('failure'), succeeded: count('success') };
  await writeSurely(fencedPorts(ports), [
    { kind: 'update', key: runKey(shard), set: { look }, if: beatConditions({ token }) },
  ]);
  ports.log.info('second look given', { shard, ...look });
}

async function resultOf(ports: Ports, { namespace, name, container, probeType }: SampledProbe) {
  const read = await readable(readTarget(ports.store, targetAddress(namespace, name)));
  const entry = read && specProbes(read.target.spec).find((one) => one.name === probeName(container, probeType));
  if (!entry) return undefined;
  const { conclusion } = await runProbe(ports, orderOf(read.target, entry));
  return conclusion.kind === 'result' ? conclusion.result : undefined;
}

/** A function that returned because of one target would leave the others pending: Lambda freezes it. */
async function readable<Value>(reading: Promise<Value>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return undefined;
  }
}
