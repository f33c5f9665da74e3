/** One life of the process, from its start to a power loss. Afterwards nothing that it waits for comes. */
import type { Clock } from '../../../shared/lib/clock.ts';

export type Life = {
  alive: boolean;
  readonly clock: Clock;
  /** The power is gone. */
  end(): void;
};

export function newLife(world: Clock): Life {
  const cancels = new Set<() => void>();
  const life: Life = {
    alive: true,
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
