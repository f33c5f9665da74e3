/** The layout as a schedule would leave it, for runs that no schedule has asked for. */
import {
  type LayoutOptions,
  type LayoutPorts,
  nextLayout,
  readLayout,
  type StandingLayout,
} from '../../shared/schedule/layout.ts';

/** Reads the layout and brings it up to date. */
export async function currentLayout(ports: LayoutPorts, options: LayoutOptions): Promise<StandingLayout> {
  return nextLayout(ports, await readLayout(ports), options);
}
