/**
 * A Lambda function: its containers serve one invocation at a time and are frozen in between. A timer that is still set
 * and an answer that is still awaited come in the middle of the next invocation, so a function must leave none.
 */
import type { InvocationContext } from '../../functions/lambda/environment.ts';
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';
import { closing } from './sim-socket.ts';

type Handler<Answer> = (event: unknown, context: InvocationContext) => Promise<Answer>;

export type SimFunction<Answer> = {
  /** A container has started. */
  serve(life: Life, handler: Handler<Answer>): void;
  hasFree(): boolean;
  /** Its code does not start: a message that is given to it comes back when its visibility is over. */
  isBroken(): boolean;
  /** Needs a free container. Resolves with undefined if the container died or was killed at the time-out. */
  invoke(event: unknown): Promise<Answer | undefined>;
  /** Another version is deployed: every container ends as soon as it is idle. */
  replaceAll(): void;
};

export type FunctionOptions = {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly timeoutMs: number;
  /** Ends a container that has exceeded its time-out or has been replaced. */
  readonly kill: (life: Life) => void;
  readonly onProblem: (what: string) => void;
  /** Absent: its code always starts. */
  readonly isBroken?: () => boolean;
};

export function simFunction<Answer>(options: FunctionOptions): SimFunction<Answer> {
  const { scheduler, chance, timeoutMs, kill, onProblem, isBroken = () => false } = options;
  const containers = new Map<Life, Handler<Answer>>();
  const busy = new Set<Life>();
  const replaced = new Set<Life>();
  let invocations = 0;

  const free = (): readonly Life[] => {
    for (const life of containers.keys()) if (!life.alive) containers.delete(life);
    return [...containers.keys()].filter((life) => !busy.has(life));
  };

  const returned = (life: Life) => {
    const left = scheduler.pendingOf(life).filter((label) => label !== closing);
    if (left.length > 0) onProblem(`${life.name} returned and left pending: ${left.join(', ')}`);
    scheduler.freeze(life);
  };

  return {
    serve(life, handler) {
      containers.set(life, handler);
      scheduler.freeze(life);
    },
    hasFree: () => free().length > 0,
    isBroken,
    replaceAll() {
      for (const life of containers.keys()) {
        if (busy.has(life)) replaced.add(life);
        else if (life.alive) kill(life);
      }
    },
    invoke(event) {
      const life = chance.pick(free());
      const handler = containers.get(life);
      busy.add(life);
      invocations += 1;
      const awsRequestId = `invocation-${invocations}`;
      const endMs = scheduler.nowMs() + timeoutMs;
      const context = { awsRequestId, getRemainingTimeInMillis: () => endMs - scheduler.nowMs() };
      return new Promise((resolve) => {
        const settle = (answer: Answer | undefined) => {
          cancel();
          busy.delete(life);
          life.onDeath = undefined;
          if (replaced.delete(life) && life.alive) kill(life);
          resolve(answer);
        };
        const cancel = scheduler.after(timeoutMs, { label: 'invocation times out', deliver: () => kill(life) });
        life.onDeath = () => settle(undefined);
        scheduler.thaw(life);
        const answer = (given: Answer) => {
          if (!life.alive) return;
          returned(life);
          settle(given);
        };
        const invoked = () =>
          void handler?.(event, context).then(answer, (cause: unknown) => {
            onProblem(`${life.name} threw: ${String(cause)}`);
            answer(undefined as Answer);
          });
        scheduler.after(chance.between(1, 10), { label: `begins ${awsRequestId}`, life, deliver: invoked });
      });
    },
  };
}
