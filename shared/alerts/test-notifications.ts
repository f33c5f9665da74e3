/** Notifications that try a receiver: one of an incident that there is not, and one of its end. */
import type { Incident, Notification } from './alert-state.ts';

const lastsMs = 60_000;

/** `id` distinguishes this try from others. */
export function testNotifications(receiver: string, id: string, nowMs: number): readonly [Notification, Notification] {
  const sinceMs = nowMs - lastsMs;
  const incident: Incident = {
    id,
    alert: 'test',
    cause: 'NotReady',
    namespace: 'test',
    name: 'test',
    uid: id,
    sinceMs,
    message: 'This is a test of probelet: nothing is wrong.',
    groupLabels: {},
    receivers: [receiver],
    batch: id,
  };
  const about = { batch: id, alert: 'test', receivers: [receiver], atMs: nowMs };
  return [
    { id: `${id}-firing-1`, kind: 'firing', ...about, incidents: [incident], remaining: 1 },
    {
      ...{ id: `${id}-resolved-2`, kind: 'resolved', ...about },
      ...{ incidents: [{ ...incident, resolvedMs: nowMs }], remaining: 0 },
    },
  ];
}
