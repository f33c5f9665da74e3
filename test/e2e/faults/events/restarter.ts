/** A subscriber that acts on restart requests: it lets the container succeed and reports its restart. */
import type { EventDetail } from '../../../../shared/bus/events.ts';
import { report, reportRestart } from './cast.ts';
import type { Stage } from './stage.ts';

/** `delivered`: the targets whose request has reached it. */
export function restarter(stage: Stage): { readonly delivered: ReadonlySet<string> } {
  const delivered = new Set<string>();
  stage.subscribe('Container Restart Requested', async ({ detail }) => {
    const { target, containerID } = detail as EventDetail<'Container Restart Requested'>;
    const { name } = target;
    stage.tell({ mend: [`/${name}`] });
    if (!delivered.has(name) && name.startsWith('reported-')) await report(stage, name, 1);
    if (name.startsWith('failing-')) await reportRestart(stage, name, containerID);
    delivered.add(name);
  });
  return { delivered };
}
