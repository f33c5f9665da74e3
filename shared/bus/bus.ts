/**
 * The bus port: EventBridge, or the same in process. At least once, unordered; a consumer reads the state again and never trusts a
 * payload. `publish` retries what the bus did not take and tells which events were never taken, by index.
 */
import type { BusEvent } from './events.ts';

export type PublishOutcome = {
  /** Indices of the events that the bus did not take after bounded retries. Empty: all are on the bus. */
  readonly failed: readonly number[];
  /** Some failed because the caller lacks a right, which the adapter has logged. */
  readonly denied?: true;
};

export type PublishOptions = {
  /** Aborted: what is not on the bus yet has failed. */
  readonly signal?: AbortSignal;
};

export interface Bus {
  publish(events: readonly BusEvent[], options?: PublishOptions): Promise<PublishOutcome>;
}
