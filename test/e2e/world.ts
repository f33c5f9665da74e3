/**
 * Where scenarios play: the whole product with real listeners on loopback, either in this process under a controlled
 * clock, or as `npm start` in real time. Scenarios are the same in both.
 */
import type { DetailType, EventDetail } from '../../shared/bus/events.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Unanswered } from '../support/quiet-process.ts';

export type Answer = { readonly status: number; readonly body: unknown };

/** An event from the bus as a subscriber gets it. */
export type WorldEvent = {
  readonly [Type in DetailType]: {
    readonly id: string;
    readonly 'detail-type': Type;
    readonly time: string;
    readonly detail: EventDetail<Type>;
  };
}[DetailType];

export type World = {
  /** The clock that listeners and scenarios live by, the same as the prober's. */
  readonly clock: Clock;
  api(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Calls the listener with every event from now on; returns what ends it. */
  subscribe(listener: (event: WorldEvent) => void): () => void;
  /** For the files that exec probes look at. */
  readonly folder: string;
  /** Where listeners write down what they leave unanswered on purpose. */
  readonly unanswered: Unanswered;
  /** How much later than by the rules something may be seen: requests, scheduling and a busy machine take real time. */
  readonly slackMs: number;
  /** Plays until the promise is settled. */
  play<Result>(promise: Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
};

/** What exec probes may run in every world. */
export const allowedPrograms: readonly string[] = ['/bin/sh', '/bin/cat'];
