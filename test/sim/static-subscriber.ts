/**
 * Acts on some restart requests of a `static` target: restarts the container and reports it, once or twice. Sometimes
 * it restarts a container by itself, as a deployment does.
 */
import type { BusEvent } from '../../shared/bus/events.ts';
import type { ContainerRuntime, RuntimePorts } from './container-runtime.ts';

const meanPauseMs = 3 * 3_600_000;

type StaticTarget = { readonly namespace: string; readonly name: string; readonly containers: readonly string[] };

export function staticSubscriber({ scheduler, chance, client }: RuntimePorts, target: StaticTarget): ContainerRuntime {
  const path = `/v1/namespaces/${target.namespace}/targets/${target.name}/restarted`;
  let stopped = false;

  const report = async (body: { readonly container: string; readonly containerID?: string }): Promise<void> => {
    await client.insist({ method: 'POST', path, body }, () => stopped);
    if (!stopped && chance.happens(0.2)) await client.insist({ method: 'POST', path, body }, () => stopped);
  };
  const after = (ms: number, label: string, act: () => void) =>
    scheduler.after(ms, { label, deliver: () => (stopped ? undefined : act()) });
  const deploy = () =>
    after(chance.wait(meanPauseMs), 'restarted by a deployment', () => {
      void report({ container: chance.pick(target.containers) });
      deploy();
    });

  deploy();
  return {
    hear({ detailType, detail }: BusEvent) {
      if (detailType !== 'Container Restart Requested' || chance.happens(0.4)) return;
      const { container, containerID } = detail;
      after(chance.between(500, 20_000), 'restart obeyed', () => void report({ container, containerID }));
    },
    stop() {
      stopped = true;
    },
  };
}
