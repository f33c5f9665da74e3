/** Which commits are verdicts of probes (rule 12), and which probes of the network stand behind them. */
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import type { Endpoint, Health, ProbeStart, SeenProbe } from '../network.ts';
import { keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker, Facts } from './checker.ts';

export type Verdict = { readonly before: ProbeRecord; readonly after: ProbeRecord; readonly endpoint: Endpoint };

/** A seen probe. `isRecorded`: its run has begun the next probe, and no fault may have voided the result. */
export type Evidence = SeenProbe & { isRecorded: boolean };

export type Evidences = {
  started(start: ProbeStart): void;
  seen(probe: SeenProbe): void;
  /** At a hold or a new static container, earlier results do not count any more. */
  forget(endpoint: Endpoint): void;
  /** Oldest first. */
  of(endpoint: Endpoint): readonly Evidence[];
};

/** What is wrong with a verdict, given its threshold and the probes since the last hold; undefined: nothing. */
type Judge = (result: 'success' | 'failure', wanted: number, seen: readonly Evidence[]) => string | undefined;

/** Each checker has its own evidence: at a hold it forgets what another one may still need for the same verdict. */
export const verdictChecker =
  (judge: Judge): Checker =>
  (facts, violated) => {
    const seen = evidences(facts);
    const judged = (writer: string, change: Change) => {
      if (beginsAgain(facts, change)) seen.forget(facts.ledger.endpointOf(change.key) ?? '');
      const verdict = verdictOf(facts, change);
      if (!verdict) return;
      const { after, endpoint } = verdict;
      const result = after.result === 'failure' ? 'failure' : 'success';
      const wrong = judge(result, facts.ledger.thresholdOf(endpoint, result), seen.of(endpoint));
      if (wrong !== undefined) violated(`${writer} set ${change.key.sk} to ${after.result}${wrong}`);
      if (after.onHold) seen.forget(endpoint);
    };
    return {
      probeStarted: seen.started,
      probeSeen: seen.seen,
      applied({ writer, changes }) {
        for (const change of changes) judged(writer, change);
      },
    };
  };

/** With lifecycle `static` a new container resets the run length; kubelet's continues. */
function beginsAgain({ ledger }: Facts, { key, before, after }: Change): boolean {
  if (keyKind(key) !== 'PROBE' || before?.containerID === after?.containerID) return false;
  return ledger.targetOf(String(after?.uid))?.spec.lifecycle === 'static';
}

/** The result of a probe of such an endpoint; undefined: a prober error. */
export function resultOf(health: Health): 'success' | 'failure' | undefined {
  if (health === 'errs') return undefined;
  return health === 'failing' || health === 'hanging' ? 'failure' : 'success';
}

const keptMax = 200;
/** A process that doubts itself discards results, until some time after the cause. */
const doubtMs = 40_000;

export function evidences({ ledger, faults }: Facts): Evidences {
  const all = new Map<Endpoint, Evidence[]>();
  return {
    started({ endpoint, prober, startMs }) {
      const probed = ledger.probedAt(endpoint);
      if (!probed || ledger.tokenOf(prober) !== ledger.epochOf(probed.address.bucket)) return;
      const last = all.get(endpoint)?.findLast((one) => one.prober === prober);
      const process = prober.slice(0, prober.indexOf('.'));
      // An internal error voids a failure; where computing takes time it needs no fault.
      if (last?.isGenuine && faults.during(last.startMs - doubtMs, startMs, process).length === 0)
        last.isRecorded = true;
    },
    seen(probe) {
      // A prober error moves no counter; hundreds of them would only displace the evidence of a verdict.
      if (probe.outcome === 'error') return;
      const known = all.get(probe.endpoint) ?? [];
      all.set(probe.endpoint, known);
      known.push({ ...probe, isRecorded: false });
      if (known.length > 2 * keptMax) known.splice(0, keptMax);
    },
    forget: (endpoint) => void all.delete(endpoint),
    of: (endpoint) => all.get(endpoint) ?? [],
  };
}

/**
 * A verdict has the output of its probe; the results of rules 3, 5 and 6 have none, and a probe that cannot be made
 * leaves the last result.
 */
export function verdictOf({ ledger }: Facts, { key, before, after }: Change): Verdict | undefined {
  if (keyKind(key) !== 'PROBE' || !before || !after) return undefined;
  const [old, now] = [before as unknown as ProbeRecord, after as unknown as ProbeRecord];
  if (now.version === old.version || now.output === '' || now.ended || now.unknown || now.result === undefined)
    return undefined;
  const endpoint = ledger.endpointOf(key);
  return endpoint === undefined ? undefined : { before: old, after: now, endpoint };
}
