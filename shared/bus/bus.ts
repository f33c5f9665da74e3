/**
 * The bus port, implemented by EventBridge and in process. Delivery is at least once and unordered, so a consumer reads
 * the current state and never relies on the payload. `publish` retries rejected events and returns the indices of those
 * that were never accepted.
 */
import type { BusEvent } from './events.ts';

export type PublishOutcome = {
  /** Indices of the events that the bus did not accept after bounded retries. Empty if all are on the bus. */
  readonly failed: readonly number[];
  /** Some events failed because the caller lacks a permission. The adapter has logged it. */
  readonly denied?: true;
};

export type PublishOptions = {
  /** When aborted, events that are not on the bus yet count as failed. */
  readonly signal?: AbortSignal;
};

export interface Bus {
  publish(events: readonly BusEvent[], options?: PublishOptions): Promise<PublishOutcome>;
}
