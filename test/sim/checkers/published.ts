/**
 * Published: subscribers learn of a prober that doubts itself when its process has lost the network, and only when a
 * process has been cut off, stood still or had its clock set; and of a shard without a holder as soon as an undisturbed
 * schedule can see it. Each such event is followed by its recovery.
 */
import { bucketName } from '../../../shared/store/records/keys.ts';
import type { Published } from '../bus.ts';
import { processOf } from '../fault-log.ts';
import type { DoneFault, FaultKind } from '../faults.ts';
import type { SeenProbe } from '../network.ts';
import { noHolderAfterMs } from '../oracle/timing.ts';
import { isOfRun } from '../store.ts';
import type { Checker, Facts } from './checker.ts';
import { bucketsIn, type Shard, shardsOf } from './shards.ts';

/** What makes a prober doubt itself, and for how long a run may go on with the doubt of the one before it. */
const ownFaults: ReadonlySet<FaultKind> = new Set([
  'network loss',
  'sandbox lies',
  'route cut',
  'pause',
  'probe pause',
  'clock jump',
]);
const inheritedMs = 300_000;
/** A failed probe, two self-checks, a beat, the bus. */
const publishingMs = 30_000;
/** Both clocks, and what lies between the two looks of a schedule. */
const lookingMs = 12_000;
/** Within which a woken schedule has published, and the span of faults that keep it from that. */
const scheduleMs = 20_000;

type Due = {
  readonly dueMs: number;
  readonly sinceMs: number;
  readonly what: string;
  readonly buckets: readonly number[];
  /** The run that has to publish it. */
  readonly token: number;
};

export const publications: Checker = (facts, violated) => {
  const { faults, nowMs } = facts;
  /** By kind, the buckets that subscribers believe to be in doubt or without a holder. */
  const believed = { doubt: new Set<number>(), noHolder: new Set<number>() };
  /** By kind and bucket, the time of the latest recovery: events are unordered, so an older doubt may arrive later. */
  const recoveries = new Map<string, number>();
  const ids = new Set<string>();
  const cuts = new Map<string, DoneFault>();
  /** Of the way to the internet, for every process. */
  let routeCut: DoneFault | undefined;
  let due: readonly Due[] = [];
  const beats = new Map<string, number>();

  /** The doubt began while the route was cut, and nothing else ailed the network of this process. */
  const isOnlyRouteCut = (publisher: string, sinceMs: number): boolean => {
    const own = cuts.get(processOf(publisher));
    const isCut = routeCut !== undefined && routeCut.timeMs <= sinceMs && sinceMs < routeCut.untilMs;
    return isCut && (own === undefined || own.untilMs < sinceMs - inheritedMs);
  };

  const degraded = ({ event, publisher, timeMs }: Published) => {
    if (event.detailType !== 'Prober Degraded') return;
    const { hashRange, reason, route } = event.detail;
    if (reason === 'NetworkUnreachable' && route !== 'public' && isOnlyRouteCut(publisher, event.timeMs))
      violated(`${publisher} named no route, though only that to the internet was cut`);
    const isNoHolder = reason === 'NoHolder';
    const kind = isNoHolder ? 'noHolder' : 'doubt';
    for (const bucket of bucketsIn(hashRange))
      if (event.timeMs >= (recoveries.get(`${kind} ${bucket}`) ?? 0)) believed[kind].add(bucket);
    ids.add(event.detail.id);
    due = due.filter(({ what, buckets }) => what !== kind || !buckets.some((bucket) => believed[kind].has(bucket)));
    const isOwn = faults.during(timeMs - inheritedMs, timeMs).some((fault) => ownFaults.has(fault.kind));
    const isLoaded = facts.computingTakesTime && reason === 'EventLoopStalled';
    if (!isNoHolder && !isOwn && !isLoaded)
      violated(`${publisher} told of ${reason} although nothing was wrong with any prober`);
  };
  const recovered = ({ event, publisher, timeMs }: Published) => {
    if (event.detailType !== 'Prober Recovered') return;
    const { hashRange, id } = event.detail;
    const kind = id.includes('#held-again#') ? 'noHolder' : 'doubt';
    const range = bucketsIn(hashRange);
    // A recovery is repeated if the bus's answer was lost, and for safety if the doubt may have been published.
    const before = faults.during(timeMs - inheritedMs, timeMs);
    // A recovery names the range as it was without a holder; another recovery may have covered its buckets since.
    const mayBePublished =
      ids.has(id) ||
      ids.has(id.replace('#held-again#', '#no-holder#')) ||
      before.some((fault) => (kind === 'noHolder' ? struckSchedule(fault) : ownFaults.has(fault.kind)));
    if (!mayBePublished && !range.some((bucket) => believed[kind].has(bucket)))
      violated(`${publisher} told of the recovery ${id} of ${hashRange}, of which nothing else was told`);
    ids.add(id);
    for (const bucket of range) {
      believed[kind].delete(bucket);
      recoveries.set(`${kind} ${bucket}`, Math.max(event.timeMs, recoveries.get(`${kind} ${bucket}`) ?? 0));
    }
  };

  /** A run that is in force saw a failure that its own network made. */
  const cutOff = ({ prober, endpoint, endMs, outcome, isGenuine }: SeenProbe) => {
    const process = processOf(prober);
    const cut = cuts.get(process) ?? routeCut;
    const probed = facts.ledger.probedAt(endpoint);
    const bucket = probed?.address.bucket;
    // A failure of a target that is known as down gets no self-check, so nothing is published.
    if (probed && facts.ledger.probeItem(probed)?.result === 'failure') return;
    if (outcome !== 'failure' || isGenuine || !cut || bucket === undefined || cut.untilMs < endMs + publishingMs)
      return;
    const token = facts.ledger.tokenOf(prober);
    if (token === undefined || token !== facts.ledger.epochOf(bucket)) return;
    const number = Number.parseInt(bucket, 16);
    if (!believed.doubt.has(number) && !due.some(({ buckets }) => buckets.includes(number)))
      due = [...due, { dueMs: endMs + publishingMs, sinceMs: endMs, what: 'doubt', buckets: [number], token }];
  };

  const woken = (process: string, timeMs: number) => {
    const silent = shardsOf(facts).filter(({ name, mode }) => {
      const sinceMs = Math.max(beats.get(name) ?? 0, facts.ledger.laidOutMs());
      return mode === 'resident' && timeMs - sinceMs > noHolderAfterMs(false) + lookingMs;
    });
    if (silent.length > 0) pendingLooks.push({ process: processOf(process), timeMs, silent });
  };
  const pendingLooks: { readonly process: string; readonly timeMs: number; readonly silent: readonly Shard[] }[] = [];

  const settleLooks = () => {
    while (pendingLooks[0] && pendingLooks[0].timeMs < nowMs() - scheduleMs) {
      const { process, timeMs, silent } = pendingLooks.shift() as (typeof pendingLooks)[number];
      if (facts.ledger.laidOutMs() > timeMs || hindered(facts, process, timeMs)) continue;
      for (const { name, from, to } of silent) {
        const isBack = (beats.get(name) ?? 0) > timeMs;
        if (isBack || believed.noHolder.has(from) || believed.noHolder.has(to - 1)) continue;
        violated(`nobody holds shard ${name} since ${beats.get(name)}, ${process} looked at ${timeMs} and told nobody`);
      }
    }
  };

  const settleDue = () => {
    const over = due.filter(({ dueMs }) => dueMs <= nowMs());
    due = due.filter(({ dueMs }) => dueMs > nowMs());
    for (const { sinceMs, dueMs, buckets, token } of over) {
      const [bucket = 0] = buckets;
      // A run that has taken over meanwhile may reach its targets.
      const isHeldStill = facts.ledger.epochOf(bucketName(bucket)) === token;
      if (isHeldStill && isUndisturbed(facts, sinceMs, dueMs))
        violated(`the holder of bucket ${bucket} was cut off at ${sinceMs}, and told nobody`);
    }
  };

  return {
    published(seen) {
      degraded(seen);
      recovered(seen);
    },
    faultDone(fault) {
      if (fault.kind === 'network loss' && fault.process !== undefined) cuts.set(fault.process, fault);
      if (fault.kind === 'route cut') routeCut = fault;
    },
    probeSeen: cutOff,
    scheduleWoken: ({ process, timeMs }) => woken(process, timeMs),
    applied({ timeMs, changes }) {
      for (const change of changes) if (isOfRun(change)) beats.set(change.key.pk.slice('RUN#'.length), timeMs);
    },
    ticked() {
      settleDue();
      settleLooks();
    },
    settled() {
      for (const [kind, buckets] of Object.entries(believed))
        for (const { name, from, to } of shardsOf(facts)) {
          const bucket = [...buckets].find((one) => one >= from && one < to);
          if (bucket !== undefined)
            violated(`it was told, ${kind}, of bucket ${bucket} in ${name}, and never taken back`);
        }
    },
  };
};

/** A schedule may have died between its mark and its event. */
const struckSchedule = ({ kind, process }: DoneFault): boolean =>
  ofSchedule.test(kind) && (process === undefined || process.startsWith('schedule'));

const ofSchedule = /^(store|bus|queue|crash|pause|partition|clock)/;

/** Whether a fault may have kept this schedule from publishing. */
const hindered = ({ faults }: Facts, process: string, timeMs: number): boolean =>
  faults.during(timeMs - scheduleMs, timeMs + scheduleMs, process).some(({ kind }) => ofSchedule.test(kind));

/** Nothing else happened to any worker. */
function isUndisturbed(facts: Facts, sinceMs: number, dueMs: number): boolean {
  return !facts.faults
    .during(sinceMs - publishingMs, dueMs)
    .some(({ kind, process }) => ofSchedule.test(kind) && (process === undefined || process.startsWith('worker')));
}
