/** What the client needs of an answer. Everything else is passed on as it is. */
import * as z from 'zod';

export const targetShape = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), name: z.string(), creationTimestamp: z.string() }),
  spec: z.looseObject({ containers: z.array(z.unknown()), initContainers: z.array(z.unknown()) }),
  status: z.looseObject({
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })),
    containerStatuses: z.array(z.looseObject({ name: z.string() })),
    initContainerStatuses: z.array(z.looseObject({ name: z.string() })),
    probes: z.array(z.looseObject({ container: z.string(), result: z.string(), since: z.string() })),
  }),
});
export const listShape = z.looseObject({
  metadata: z.looseObject({ continue: z.string().optional() }),
  items: z.array(targetShape),
});
export const eventsShape = z.looseObject({ items: z.array(z.looseObject({ time: z.string(), reason: z.string() })) });
export const appliedShape = z.looseObject({ items: z.array(z.looseObject({ status: z.int() })) });
export const probedShape = z.looseObject({ probes: z.array(z.looseObject({ container: z.string() })) });
export const openapiShape = z.looseObject({
  info: z.looseObject({ title: z.literal('probelet'), version: z.string() }),
});
export const healthShape = z.looseObject({ status: z.string() });
const names = z.array(z.string());
export const cleanedShape = z.looseObject({
  kept: names,
  removed: names,
  terminating: names,
  continue: z.string().optional(),
});
