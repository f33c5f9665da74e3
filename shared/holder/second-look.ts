/** Answers another process that doubts what it sees: probes a sample of its targets from here, and says so in RUN. */

import { wouldProbe } from '../core/kubelet/worker.ts';
import { seenIn } from '../core/self/second-look.ts';
import { probeName, type SpecProbe, specProbes } from '../core/spec/spec.ts';
import { observe, productEra } from '../core/status/observed.ts';
import { isStopped } from '../core/status/shown.ts';
import { probe } from '../prober/probe.ts';
import type { LookMessage, SampledProbe } from '../queue/queue.ts';
import { runKey, targetAddress } from '../store/records/keys.ts';
import { StoreUnavailable } from '../store/store.ts';
import { type ReadTarget, readTarget } from '../table/targets.ts';
import { writeSurely } from '../table/write.ts';
import { beatConditions } from './beat.ts';
import { type HeldSpec, heldSpecOf, storedWorker } from './probing/held-spec.ts';
import { quarantineOf } from './probing/hung-probe.ts';
import { podView } from './probing/worker.ts';
import { fencedPorts, type Ports } from './run.ts';
import { type SelfWatch, selfWatch } from './self-check/self-check.ts';

/**
 * A target that is gone, no longer has the probe, cannot be read or is not to be probed now counts as neither, as does
 * a prober error. false: this process doubts what it has seen itself, and has not answered.
 *
 * @throws StoreUnavailable: the one that asked believes itself
 */
export async function answerLook(ports: Ports, message: LookMessage): Promise<boolean> {
  const { shard, token, number, sample } = message;
  const over = new AbortController();
  const { secondPlace: _, ...own } = ports;
  const self = selfWatch({ ports: own, message, token, signal: over.signal }, false, () => undefined);
  try {
    const specs = await Promise.all(sample.map((one) => specOf(ports, one)));
    const seen = seenIn(await Promise.all(specs.flatMap((spec) => (spec ? [judged(ports, self, spec)] : []))));
    if (self.voidFailures() > 0) return false;
    const look = { token, number, ...seen };
    await writeSurely(fencedPorts(ports), [
      { kind: 'update', key: runKey(shard), set: { look }, if: beatConditions({ token }) },
    ]);
    ports.log.info('second look given', { shard, ...look });
    return true;
  } finally {
    over.abort();
    await self.stop();
  }
}

/** undefined: there is nothing to ask over the network. */
async function specOf(
  ports: Ports,
  { namespace, name, container, probeType }: SampledProbe,
): Promise<HeldSpec | undefined> {
  const read = await readable(readTarget(ports.store, targetAddress(namespace, name)));
  const entry = read && specProbes(read.target.spec).find((one) => one.name === probeName(container, probeType));
  if (!entry) return undefined;
  const spec = heldSpecOf(read.target, entry);
  return spec.reach && isProbedNow(read, entry, spec, ports.clock.nowMs()) ? spec : undefined;
}

/** Whether the worker that holds this would probe now, as far as its items say. */
function isProbedNow(read: ReadTarget, entry: SpecProbe, spec: HeldSpec, nowMs: number): boolean {
  const { name, container } = entry;
  const { target, probes, hang } = read;
  const record = probes[name];
  if (!record || record.ended || isStopped(target, entry) || quarantineOf(hang, target, name)) return false;
  const pod = podView(target, observe(read), container.spec.name);
  return wouldProbe(spec.worker, storedWorker(record, spec.digest, undefined), pod, nowMs, productEra);
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

async function judged(ports: Ports, self: SelfWatch, { order, reach = 'none' }: HeldSpec) {
  const watched = self.watch();
  try {
    return await watched.judge(await probe(ports, order), { reach, changes: true, confirms: false, turns: true });
  } finally {
    watched.done();
  }
}
