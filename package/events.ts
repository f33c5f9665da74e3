/** `probelet/events`: the events on the bus, for subscribers. `docs/events.md` says when each is published. */
export type { EventEnvelope } from '../shared/bus/bus.ts';
export { type DetailType, type EventDetail, eventSchemas, eventSource } from '../shared/bus/events.ts';
