/**
 * When incidents are reported: together with others of their group, again after a while, and once they have ended.
 *
 * A notification for each incident would flood a receiver when a rack fails, and one for all would mix what different
 * people mend. So incidents of one group that begin within a short window share a batch. A batch is reported when its
 * window ends, keeps its receivers, reminds of incidents that last, and gathers the ends for another window before it
 * reports them. It exists until its last incident has ended and is reported.
 */
import type { AlertRule } from './alert-rule.ts';
import type { Batch, Incident, Notification, NotificationKind } from './alert-state.ts';
import type { AlertTime } from './alert-time.ts';

/** How long the incidents of one group are gathered before one notification reports them. */
export const groupWindowMs = 5_000;
/** Incidents that one notification reports. Further ones are in another. */
export const batchIncidentsMax = 100;

/** The incidents and batches of one decision; the maps are changed in place. */
type Ledger = {
  readonly incidents: Map<string, Incident>;
  readonly batches: Map<string, Batch>;
  readonly rules: readonly AlertRule[];
  /** Names of the configured receivers. */
  readonly receivers: readonly string[];
};

/** Gathers what is due and returns the notifications whose window has ended. */
export function batchesAt(ledger: Ledger, time: AlertTime): readonly Notification[] {
  const repeated = readdressed(ledger, time);
  const rules = new Map(ledger.rules.map((rule) => [rule.name, rule]));
  const open = new Map<string, Batch>();
  for (const batch of ledger.batches.values()) if (isGathering(batch)) open.set(batch.group, batch);
  for (const [key, incident] of ledger.incidents) {
    const rule = rules.get(incident.alert);
    if (!rule || !isDue(incident, rule, time)) continue;
    const id = freeId(incident.id, ledger.batches);
    const batch = gathered(open.get(groupOf(incident)), id, key, incident, rule, time);
    open.set(batch.group, batch);
    ledger.batches.set(batch.id, batch);
    ledger.incidents.set(key, { ...incident, batch: batch.id });
  }
  return [...repeated, ...[...ledger.batches.values()].flatMap((batch) => reportOf(ledger, batch, time))];
}

/**
 * Replaces receivers that are gone by those that the alert names now. The new ones learn of incidents that last, and
 * later of their end.
 */
function readdressed({ batches, incidents, rules, receivers }: Ledger, time: AlertTime): readonly Notification[] {
  return [...batches.values()].flatMap((batch) => {
    const kept = batch.receivers.filter((each) => receivers.includes(each));
    if (kept.length === batch.receivers.length) return [];
    const { receivers: named = [] } = rules.find(({ name }) => name === batch.alert) ?? {};
    const added = named.filter((each) => !kept.includes(each));
    batches.set(batch.id, { ...batch, receivers: [...kept, ...added], sequence: batch.sequence + 1 });
    const lasting = batch.firing.flatMap((key) => incidents.get(key) ?? []);
    const heard = lasting.filter((incident) => isHeard(incident, time));
    if (batch.reportedMs === undefined || added.length === 0 || heard.length === 0) return [];
    return [notificationOf({ ...batch, receivers: added }, 'firing', heard, time)];
  });
}

const isGathering = ({ reportedMs, firing }: Batch): boolean =>
  reportedMs === undefined && firing.length < batchIncidentsMax;

const isDue = (incident: Incident, { forMs }: AlertRule, time: AlertTime): boolean =>
  incident.batch === undefined &&
  isHeard(incident, time) &&
  time.steadyMs >= (incident.beganMs ?? incident.sinceMs) + forMs;

/** Whether something may be said of the incident now. */
const isHeard = ({ isUnknown, silences = [] }: Incident, { wallMs }: AlertTime): boolean =>
  !isUnknown && !silences.some(({ fromMs, untilMs }) => fromMs <= wallMs && wallMs < untilMs);

const groupOf = ({ alert, cause, namespace, groupLabels }: Incident): string =>
  JSON.stringify([alert, cause === 'ProberDegraded', namespace, groupLabels]);

/**
 * The incident's, so that a receiver recognizes what is planned again after a crash. A target that left the alert and
 * came back while down has the same incident, and its first batch may still report others.
 */
function freeId(incidentId: string, batches: ReadonlyMap<string, Batch>): string {
  let id = incidentId;
  for (let number = 2; batches.has(id); number += 1) id = `${incidentId}-${number}`;
  return id;
}

/**
 * The batch with one more incident: the open one, or a new one.
 * @param id of a new batch
 */
function gathered(
  before: Batch | undefined,
  id: string,
  key: string,
  incident: Incident,
  rule: AlertRule,
  time: AlertTime,
): Batch {
  if (before && isGathering(before)) return { ...before, firing: [...before.firing, key] };
  return {
    id,
    alert: rule.name,
    group: groupOf(incident),
    receivers: incident.receivers,
    sendResolved: rule.sendResolved,
    ...(rule.remindMs !== undefined && { remindMs: rule.remindMs }),
    firing: [key],
    ended: [],
    reportAtMs: time.steadyMs + groupWindowMs,
    sequence: 0,
  };
}

function reportOf(ledger: Ledger, batch: Batch, time: AlertTime): readonly Notification[] {
  const { batches, incidents } = ledger;
  const { steadyMs } = time;
  const { reportAtMs, reportedMs, firing, ended, remindMs, ...rest } = batch;
  if (firing.length === 0 && ended.length === 0) {
    batches.delete(batch.id);
    return [];
  }
  if (ended.length > 0 && reportAtMs === undefined) {
    batches.set(batch.id, { ...batch, reportAtMs: steadyMs + groupWindowMs });
    return [];
  }
  const lasting = firing.flatMap((key) => incidents.get(key) ?? []);
  const next = {
    ...rest,
    firing,
    ended: [],
    ...(remindMs !== undefined && { remindMs }),
    sequence: batch.sequence + 1,
  };
  if (reportAtMs !== undefined) {
    if (steadyMs < reportAtMs) return [];
    if (firing.length === 0) batches.delete(batch.id);
    else batches.set(batch.id, { ...next, reportedMs: reportedMs ?? steadyMs });
    if (reportedMs === undefined) return [notificationOf(batch, 'firing', lasting, time)];
    return batch.sendResolved ? [notificationOf(batch, 'resolved', ended, time)] : [];
  }
  const isLasting = lasting.some((incident) => isHeard(incident, time));
  if (remindMs === undefined || reportedMs === undefined || !isLasting || steadyMs < reportedMs + remindMs) return [];
  batches.set(batch.id, { ...next, reportedMs: steadyMs });
  return [notificationOf(batch, 'reminder', lasting, time)];
}

function notificationOf(
  batch: Batch,
  kind: NotificationKind,
  incidents: Notification['incidents'],
  time: AlertTime,
): Notification {
  const { id, alert, receivers, firing, sequence } = batch;
  const about = { batch: id, alert, receivers, atMs: time.wallMs, incidents, remaining: firing.length };
  // With the time: an incident that ended with its alert begins with the same id once the alert is back.
  return { id: `${id}-${kind}-${sequence + 1}-${time.steadyMs}`, kind, ...about };
}
