/** Alerts of a test: a configuration in YAML, and what is seen of targets. */
import { type AlertRule, alertRules } from '../../shared/alerts/alert-rule.ts';
import { type AlertState, type Incident, type Notification, noAlerts } from '../../shared/alerts/alert-state.ts';
import type { AlertTime } from '../../shared/alerts/alert-time.ts';
import { planAlerts } from '../../shared/alerts/incident.ts';
import type { AlertInput, SeenTarget } from '../../shared/alerts/seen.ts';
import { parseConfig } from '../../shared/config/read-config.ts';

export const startMs = Date.UTC(2030, 0, 1, 12);

/** The rules of one alert with these fields, which notifies the receiver `ops`. */
export function rulesOf(fields: string, others = ''): readonly AlertRule[] {
  const read = parseConfig(
    `alerts:\n  - { name: down, notify: [ops]${fields && `, ${fields}`} }\n${others}receivers:\n  - { name: ops, slack: { url: "https://slack.test/x" } }\n`,
  );
  if (read.kind === 'invalid') throw new Error(read.problems.map(({ detail }) => detail).join('; '));
  return alertRules(read.config);
}

export const seen = (name: string, ready: SeenTarget['ready'], over: Partial<SeenTarget> = {}): SeenTarget => ({
  kind: 'target',
  namespace: 'default',
  name,
  uid: `uid-${name}`,
  labels: {},
  ready,
  sinceMs: startMs,
  message: 'containers with unready status: [app]',
  event: { source: 'probelet', 'detail-type': 'Target Status Changed', detail: { target: { name } } },
  ...over,
});

/** While no clock is set. */
const evenTime = (nowMs: number): AlertTime => ({
  wallMs: nowMs,
  steadyMs: nowMs,
  steadyOf: (wallMs) => Math.min(wallMs, nowMs),
});

/** Alerts whose time is moved by hand. */
export function alertWorld(first: readonly AlertRule[]) {
  let rules = first;
  let receivers: readonly string[] = ['ops'];
  let state: AlertState = noAlerts;
  let nowMs = startMs;
  const take = (...inputs: readonly AlertInput[]): readonly Notification[] => {
    const plan = planAlerts(state, { rules, receivers, inputs }, evenTime(nowMs));
    // What is kept passes through JSON.
    state = JSON.parse(JSON.stringify(plan.state));
    return plan.notifications;
  };
  return {
    take,
    state: () => state,
    nowMs: () => nowMs,
    configure: (next: readonly AlertRule[], named: readonly string[]) => {
      rules = next;
      receivers = named;
    },
    /** Lets so many seconds pass, one after the other. */
    pass(seconds: number): readonly Notification[] {
      const all: Notification[] = [];
      for (let second = 0; second < seconds; second += 1) {
        nowMs += 1_000;
        all.push(...take());
      }
      return all;
    },
  };
}

export const kindsOf = (notifications: readonly Notification[]): readonly string[] =>
  notifications.map(({ kind, incidents }) => `${kind} ${incidents.map(({ name }) => name).join('+')}`);

/** A notification with one incident, for formats. */
export function sampleNotification(over: Partial<Notification> = {}, incident: Partial<Incident> = {}): Notification {
  const sample: Incident = {
    id: '0123456789abcdef0123',
    alert: 'down',
    cause: 'NotReady',
    namespace: 'default',
    name: 'checkout',
    uid: 'uid-checkout',
    sinceMs: startMs,
    message: 'app readiness: HTTP probe failed with statuscode: 503',
    groupLabels: { 'app.kubernetes.io/name': 'checkout' },
    receivers: ['ops'],
    ...incident,
  };
  const batch = sample.id;
  const about = { batch, alert: 'down', receivers: ['ops'], atMs: startMs + 5_000, remaining: 1 };
  return { id: `${batch}-firing-1`, kind: 'firing', ...about, incidents: [sample], ...over };
}
