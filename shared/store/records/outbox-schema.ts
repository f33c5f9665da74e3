/** The schema of an entry in the outbox of STATUS; see record-schemas.ts. */
import * as z from 'zod';
import type { OutboxEvent, ShownStatus } from '../../core/spec/records.ts';
import {
  type Attributes,
  atLeastOne,
  conditionStatus,
  count,
  instantMs,
  phase,
  probeType,
  restartPolicy,
} from './value-schemas.ts';

const shownStatus: z.ZodType<ShownStatus> = z.object({
  phase,
  conditions: z.array(
    z.object({
      type: z.string(),
      status: conditionStatus,
      reason: z.string().exactOptional(),
      message: z.string().exactOptional(),
    }),
  ),
  containers: z.array(
    z.object({
      name: z.string(),
      containerID: z.string(),
      ready: z.boolean(),
      started: z.boolean(),
      restartCount: count,
    }),
  ),
} satisfies Attributes<ShownStatus>);

const event = { id: z.string(), timeMs: instantMs };
const aboutProbe = { container: z.string(), containerID: z.string(), probeType, message: z.string() };

const readable = z.discriminatedUnion('detailType', [
  z.object({
    ...event,
    detailType: z.literal('Target Status Changed'),
    detail: z.object({ resourceVersion: z.string(), oldStatus: shownStatus, newStatus: shownStatus }),
  }),
  z.object({
    ...event,
    detailType: z.literal('Container Restart Requested'),
    detail: z.object({
      ...aboutProbe,
      attempt: atLeastOne,
      restartPolicy,
      terminationGracePeriodSeconds: count,
    }),
  }),
  z.object({
    ...event,
    detailType: z.literal('Container Recovered'),
    detail: z.object({ ...aboutProbe, attempts: count, failedSinceMs: instantMs }),
  }),
  z.object({ ...event, detailType: z.literal('Unreadable'), storedType: z.string() }),
]);

/** An entry of another form does not make the whole status unreadable. */
const unreadable = z
  .object({ ...event, detailType: z.string() })
  .transform(({ detailType, ...rest }) => ({ ...rest, detailType: 'Unreadable' as const, storedType: detailType }));

export const outboxEvent: z.ZodType<OutboxEvent> = z.union([readable, unreadable]);
