/**
 * The state machine of alerts. Pure: it takes what was seen and the time, and returns the new state with the
 * notifications that follow.
 *
 * An incident begins when a target that matches a rule is not ready or requests a restart, or when a prober doubts
 * itself. It ends when that is over, or when the target is gone or no longer matches. While readiness is unknown, an
 * incident that is reported stays as it is, and one that is not reported yet starts again. Incidents are bounded, for
 * each namespace and in all; beyond the bounds a single overflow is reported instead. When an incident is reported is
 * decided in batches.ts.
 */
import { createHash } from 'node:crypto';
import { ownProperty } from '../lib/own-property.ts';
import { type AlertRule, silencedTimes } from './alert-rule.ts';
import type { AlertState, Batch, Cause, Incident, Notification } from './alert-state.ts';
import type { AlertTime } from './alert-time.ts';
import { batchesAt } from './batches.ts';
import { type AlertInput, type DegradedRange, degradedEvent, type SeenTarget } from './seen.ts';

/** Incidents of one namespace that are kept, those that wait for their duration included. */
export const incidentsMax = 1_000;
/**
 * Incidents of all namespaces together. A namespace gets no more than it leaves to the others, so that an alert about
 * another namespace can begin however many targets fail in one.
 */
const incidentsInAllMax = 2 * incidentsMax;

export type AlertStep = {
  readonly rules: readonly AlertRule[];
  /** Names of those that are configured. */
  readonly receivers: readonly string[];
  readonly inputs: readonly AlertInput[];
};
export type AlertPlan = { readonly state: AlertState; readonly notifications: readonly Notification[] };

/** Decides what is to be sent. Without inputs it lets time pass. */
export function planAlerts(state: AlertState, { inputs, ...options }: AlertStep, time: AlertTime): AlertPlan {
  const plan = new Plan(state, options, time);
  for (const input of inputs) plan.take(input);
  return plan.finish();
}

/** The state while a step is planned. */
class Plan {
  readonly #before: AlertState;
  readonly #rules: readonly AlertRule[];
  readonly #receivers: readonly string[];
  readonly #time: AlertTime;
  readonly #incidents: Map<string, Incident>;
  readonly #batches: Map<string, Batch>;
  readonly #notifications: Notification[] = [];
  #overflow: AlertState['overflow'];
  #counted: Map<string, number> | undefined;

  constructor(before: AlertState, { rules, receivers }: Omit<AlertStep, 'inputs'>, time: AlertTime) {
    const { incidents, batches, overflow } = before;
    this.#before = before;
    this.#rules = rules;
    this.#receivers = receivers;
    this.#time = time;
    this.#incidents = new Map(Object.entries(incidents));
    this.#batches = new Map(Object.entries(batches));
    this.#overflow = overflow;
  }

  take(input: AlertInput): void {
    switch (input.kind) {
      case 'target':
        for (const rule of this.#rules) this.#takeTarget(rule, input);
        break;
      case 'gone':
        this.#endTargets(({ namespace, name }) => namespace === input.namespace && name === input.name);
        break;
      case 'prober':
        this.#takeProber(input.degraded);
        break;
      case 'scanned':
        this.#endTargets(({ namespace, name }) => !input.spared.has(`${namespace}/${name}`));
        this.#endOverflow();
    }
  }

  finish(): AlertPlan {
    const known = new Set(this.#rules.map(({ name }) => name));
    this.#endWhere(({ alert }) => !known.has(alert));
    const rest = { incidents: this.#incidents, batches: this.#batches, rules: this.#rules, receivers: this.#receivers };
    const reported = batchesAt(rest, this.#time);
    const notifications = [...this.#notifications, ...reported];
    if (this.#isUnchanged()) return { state: this.#before, notifications };
    const state = {
      incidents: Object.fromEntries(this.#incidents),
      batches: Object.fromEntries(this.#batches),
      ...(this.#overflow && { overflow: this.#overflow }),
    };
    return { state, notifications };
  }

  #isUnchanged(): boolean {
    const { incidents, batches, overflow } = this.#before;
    return overflow === this.#overflow && holds(this.#incidents, incidents) && holds(this.#batches, batches);
  }

  #takeTarget(rule: AlertRule, target: SeenTarget): void {
    const key = (cause: Cause) => `${cause} ${rule.name} ${target.namespace}/${target.name}`;
    const isUnknown = target.ready === 'Unknown' && !rule.onUnknown;
    if (isUnknown) this.#hold(key('NotReady'), target);
    else if (target.ready !== 'True' && rule.matchesTarget(target) && rule.matchesEvent(target.event))
      this.#begin(key('NotReady'), incidentOf(rule, target, 'NotReady', target.sinceMs, target.message, this.#time));
    else this.#end(key('NotReady'));
    const { restart } = target;
    if (restart && rule.matchesTarget(target) && rule.matchesEvent(restart.event))
      this.#begin(
        key('RestartRequested'),
        incidentOf(rule, target, 'RestartRequested', restart.sinceMs, restart.message, this.#time),
      );
    else if (target.isUnreadable) this.#hold(key('RestartRequested'), target);
    else this.#end(key('RestartRequested'));
  }

  /** An incident of each alert that matches, whatever its targets: every target of the range is affected. */
  #takeProber(ranges: readonly DegradedRange[]): void {
    const present = new Map<string, Incident>();
    for (const range of ranges) {
      const event = degradedEvent(range);
      for (const rule of this.#rules)
        if (rule.matchesEvent(event))
          present.set(`${degraded} ${rule.name} ${range.hashRange} ${range.problem}`, this.#ofProber(rule, range));
    }
    for (const [key, { cause }] of [...this.#incidents]) if (cause === degraded && !present.has(key)) this.#end(key);
    for (const [key, incident] of present) this.#begin(key, incident);
  }

  #ofProber(rule: AlertRule, { hashRange: name, problem, reason, detail, sinceMs }: DegradedRange): Incident {
    const message = detail === undefined ? reason : `${reason}: ${detail}`;
    const about = { alert: rule.name, cause: degraded, namespace: '', name, uid: '', sinceMs, message } as const;
    const id = idOf({ ...about, uid: problem });
    return { id, ...about, beganMs: this.#time.steadyOf(sinceMs), groupLabels: {}, receivers: rule.receivers };
  }

  /** Starts the incident, or takes over what has changed. A new incarnation of a target is a new incident. */
  #begin(key: string, seen: Incident): void {
    const before = this.#incidents.get(key);
    if (before && before.uid !== seen.uid) this.#end(key);
    const { id, sinceMs, beganMs, batch } = this.#incidents.get(key) ?? {};
    if (id === undefined && !this.#hasRoom(seen)) {
      this.#refuse();
      return;
    }
    const times = sinceMs !== undefined && { sinceMs, ...(beganMs !== undefined && { beganMs }) };
    const kept = id !== undefined && { id, ...times, ...(batch !== undefined && { batch }) };
    const next = { ...seen, ...kept };
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    if (id === undefined) this.#counts().set(next.namespace, this.#countOf(next) + 1);
    this.#incidents.set(key, next);
  }

  /** Those of the prober are few: one for each alert, problem and range. */
  #hasRoom(incident: Incident): boolean {
    const ofNamespace = this.#countOf(incident);
    const left = incidentsInAllMax - this.#incidents.size;
    return incident.cause === degraded || (ofNamespace < incidentsMax && ofNamespace < left);
  }

  #countOf({ namespace }: Incident): number {
    return this.#counts().get(namespace) ?? 0;
  }

  /** By namespace; counted once something begins. */
  #counts(): Map<string, number> {
    this.#counted ??= countedBy([...this.#incidents.values()], ({ namespace }) => namespace);
    return this.#counted;
  }

  /**
   * What is not known is no evidence of a failure nor of its end. An incident that is not reported yet starts again.
   */
  #hold(key: string, { uid }: SeenTarget): void {
    const incident = this.#incidents.get(key);
    if (!incident) return;
    const isReported = this.#batches.get(incident.batch ?? '')?.reportedMs !== undefined;
    if (!isReported || incident.uid !== uid) this.#end(key);
    else if (!incident.isUnknown) this.#incidents.set(key, { ...incident, isUnknown: true });
  }

  #end(key: string): void {
    const incident = this.#incidents.get(key);
    if (!incident) return;
    this.#incidents.delete(key);
    this.#counted?.set(incident.namespace, this.#countOf(incident) - 1);
    const batch = incident.batch === undefined ? undefined : this.#batches.get(incident.batch);
    if (!batch) return;
    const ended =
      batch.reportedMs === undefined
        ? []
        : [{ ...incident, resolvedMs: Math.max(this.#time.wallMs, incident.sinceMs) }];
    const firing = batch.firing.filter((each) => each !== key);
    this.#batches.set(batch.id, { ...batch, firing, ended: [...batch.ended, ...ended] });
  }

  #endWhere(matches: (incident: Incident) => boolean): void {
    for (const [key, incident] of [...this.#incidents]) if (matches(incident)) this.#end(key);
  }

  #endTargets(matches: (incident: Incident) => boolean): void {
    this.#endWhere((incident) => incident.cause !== degraded && matches(incident));
  }

  #refuse(): void {
    const { steadyMs, wallMs } = this.#time;
    const { id = `overflow-${steadyMs}`, sinceMs = wallMs, refused = 0 } = this.#overflow ?? {};
    if (!this.#overflow) this.#reportOverflow('overflow', id);
    this.#overflow = { id, sinceMs, refused: refused + 1 };
  }

  #endOverflow(): void {
    if (!this.#overflow) return;
    const { id, sinceMs, refused } = this.#overflow;
    if (refused > 0) this.#overflow = { id, sinceMs, refused: 0 };
    else {
      this.#overflow = undefined;
      this.#reportOverflow('overflowEnded', id);
    }
  }

  #reportOverflow(kind: 'overflow' | 'overflowEnded', batch: string): void {
    const receivers = [...new Set(this.#rules.flatMap((rule) => rule.receivers))];
    const about = { batch, alert: 'probelet', receivers, atMs: this.#time.wallMs, incidents: [], remaining: 0 };
    this.#notifications.push({ id: `${batch}-${kind}-1`, kind, ...about });
  }
}

const degraded = 'ProberDegraded';

function countedBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

/** Whether the map has the same values, by identity. */
function holds<Value>(map: ReadonlyMap<string, Value>, before: { readonly [key: string]: Value }): boolean {
  return map.size === Object.keys(before).length && [...map].every(([key, value]) => before[key] === value);
}

function incidentOf(
  rule: AlertRule,
  target: SeenTarget,
  cause: Cause,
  sinceMs: number,
  message: string,
  time: AlertTime,
): Incident {
  const { namespace, name, uid, labels } = target;
  const about = { alert: rule.name, cause, namespace, name, uid, sinceMs, message };
  const groupLabels = Object.fromEntries(rule.groupBy.map((label) => [label, ownProperty(labels, label) ?? '']));
  const silences = silencedTimes(rule, target, time.wallMs);
  const silenced = silences.length > 0 && { silences };
  const beganMs = time.steadyOf(sinceMs);
  return { id: idOf(about), ...about, beganMs, groupLabels, receivers: rule.receivers, ...silenced };
}

const idDigits = 20;

function idOf({
  alert,
  cause,
  namespace,
  name,
  uid,
  sinceMs,
}: Omit<Incident, 'id' | 'groupLabels' | 'receivers'>): string {
  const text = JSON.stringify([alert, cause, namespace, name, uid, sinceMs]);
  return createHash('sha256').update(text).digest('hex').slice(0, idDigits);
}
