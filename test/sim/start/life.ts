/** One life of the process, from its start to its end. Afterwards nothing that it waits for comes. */
import type { Clock } from '../../../shared/lib/clock.ts';

export type Life = {
  alive: boolean;
  /** When it began, monotonic ms of the world. */
  readonly beganMs: number;
  readonly clock: Clock;
  /** The power is gone, or it has stopped. */
  end(): void;
};

/** How long a process waits for its kept alerts before it says anything. */
export const loadMs = 30_000;

export function newLife(world: Clock): Life {
  const cancels = new Set<() => void>();
  const life: Life = {
    alive: true,
    beganMs: world.monotonicMs(),
    clock: {
      // The machine's wall clock shows whole milliseconds.
      nowMs: () => Math.floor(world.nowMs()),
      monotonicMs: world.monotonicMs,
      setTimer(delayMs, callback) {
        if (!life.alive) return () => undefined;
        const cancel = world.setTimer(delayMs, () => {
          cancels.delete(cancel);
          callback();
        });
        cancels.add(cancel);
        return () => {
          cancels.delete(cancel);
          cancel();
        };
      },
    },
    end() {
      life.alive = false;
      for (const cancel of cancels) cancel();
      cancels.clear();
    },
  };
  return life;
}

export const forever = <Value>(): Promise<Value> => new Promise<Value>(() => undefined);
