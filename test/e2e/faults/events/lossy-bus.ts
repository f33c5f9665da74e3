/** A bus that takes every event and can be made to deliver only some of them. */

import type { BusEvent, DetailType } from '../../../../shared/bus/events.ts';
import type { InProcessBus } from '../../../../shared/bus/in-process.ts';

export type LossyBus = {
  wrap(bus: InProcessBus): InProcessBus;
  /** From now on loses events of these types; undefined: loses none. */
  lose(isLost: ((type: DetailType) => boolean) | undefined): void;
  /** Events that the bus took, and those of them that it lost. */
  readonly taken: readonly BusEvent[];
  lost(): number;
};

export function lossyBus(): LossyBus {
  const taken: BusEvent[] = [];
  let isLost: ((type: DetailType) => boolean) | undefined;
  let lost = 0;
  return {
    wrap: (bus) => ({
      ...bus,
      async publish(events) {
        taken.push(...events);
        const delivered = events.filter(({ detailType }) => isLost?.(detailType) !== true);
        lost += events.length - delivered.length;
        await bus.publish(delivered);
        return { failed: [] };
      },
    }),
    lose(types) {
      isLost = types;
    },
    taken,
    lost: () => lost,
  };
}
