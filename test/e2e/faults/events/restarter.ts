import type { EventDetail } from '../../../../shared/bus/events.ts';
import { report } from './cast.ts';
import type { Stage } from './stage.ts';

/** Plays whoever restarts containers when it is told to: then they are well again. */
export function restarter(stage: Stage): { readonly delivered: ReadonlySet<string> } {
  const delivered = new Set<string>();
  stage.subscribe('Container Restart Requested', async ({ detail }) => {
    const { target } = detail as EventDetail<'Container Restart Requested'>;
    stage.tell({ mend: [`/${target.name}`] });
    if (!delivered.has(target.name) && target.name.startsWith('reported-')) await report(stage, target.name, 1);
    delivered.add(target.name);
  });
  return { delivered };
}
