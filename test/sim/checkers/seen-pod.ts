/** Reads a target's items as the oracle wants them: by their attributes, not by what the product makes of them. */
import type { Item } from '../../../shared/store/store.ts';
import { staticContainer } from '../oracle/container-id.ts';
import type { ProbeType, SeenContainer, SeenPod, SeenProbe, State } from '../oracle/pod.ts';

export type SeenItems = {
  readonly target: Item;
  readonly status: Item;
  readonly report?: Item;
  readonly probes: readonly Item[];
};

type SpecContainer = { readonly name: string; readonly restartPolicy?: string } & {
  readonly [probe in `${ProbeType}Probe`]?: unknown;
};

type Spec = {
  readonly lifecycle: string;
  readonly restartPolicy: string;
  readonly containers: readonly SpecContainer[];
  readonly initContainers: readonly SpecContainer[];
};

type ContainerState = { readonly kind: State; readonly exitCode?: number };

export type SaidContainer = {
  readonly name: string;
  readonly containerID: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  readonly started?: boolean;
  readonly ready: boolean;
  readonly restartCount: number;
};

type SaidStatus = {
  readonly phase: string;
  readonly conditions: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  readonly containerStatuses: readonly SaidContainer[];
  readonly initContainerStatuses: readonly SaidContainer[];
};

/** What the status says, its containers in one list. */
export function statusesIn({ status }: Pick<SeenItems, 'status'>) {
  const said = status.status as SaidStatus;
  return { ...said, containers: [...said.containerStatuses, ...said.initContainerStatuses] };
}

export function seenPod(items: SeenItems): SeenPod {
  const spec = items.target.spec as Spec;
  const { phase, conditions } = statusesIn(items);
  const wasInitialized = conditions.some(({ type, status }) => type === 'Initialized' && status === 'True');
  const ordinary = spec.containers.map((container) => seenContainer(items, container, false));
  const sidecars = spec.initContainers.map((container) => seenContainer(items, container, true));
  return { containers: [...ordinary, ...sidecars], before: { phase, wasInitialized } };
}

function seenContainer(items: SeenItems, container: SpecContainer, isSidecar: boolean): SeenContainer {
  const { name } = container;
  const spec = items.target.spec as Spec;
  const found = containersIn(items, spec).find((one) => one.name === name);
  const ended = [found?.state, found?.lastState].find((state) => state?.kind === 'terminated');
  const policy = isSidecar ? 'Always' : (container.restartPolicy ?? spec.restartPolicy);
  return {
    name,
    isSidecar,
    containerID: found?.containerID ?? '',
    state: found?.state?.kind ?? 'unknown',
    ...(ended?.exitCode !== undefined && { lastExitCode: ended.exitCode }),
    isStatic: spec.lifecycle === 'static',
    // Nothing restarts while the target terminates.
    restarts:
      items.target.deletionTimestampMs === undefined &&
      (policy === 'Always' || (policy === 'OnFailure' && ended?.exitCode !== 0)),
    probes: new Map(
      (['startup', 'readiness', 'liveness'] as const).flatMap((type) =>
        container[`${type}Probe`] === undefined ? [] : [[type, seenProbe(items, name, type)] as const],
      ),
    ),
  };
}

/** Of a reported target what the report says; of a static one what TARGET says. */
function containersIn(
  items: SeenItems,
  spec: Spec,
): readonly Pick<SaidContainer, 'name' | 'containerID' | 'state' | 'lastState'>[] {
  if (spec.lifecycle !== 'reported')
    return [...spec.containers, ...spec.initContainers].map(({ name }) => ({
      ...staticContainer(items.target as unknown as Parameters<typeof staticContainer>[0], name),
      state: { kind: 'running' },
    }));
  const report = items.report as unknown as Partial<SaidStatus> | undefined;
  return [...(report?.containerStatuses ?? []), ...(report?.initContainerStatuses ?? [])];
}

type Found = { readonly result?: string; readonly unknown?: { readonly reason: string } };

function seenProbe({ probes }: SeenItems, container: string, type: ProbeType): SeenProbe {
  const item = probes.find((one) => one.container === container && one.probeType === type);
  // What a worker had found that ended with its target stays true of its container.
  const { result, unknown } = { ...item, ...(item?.endedWith as Found | undefined) } as Found;
  return {
    containerID: String(item?.containerID ?? ''),
    ...(result !== undefined && { result }),
    ...(unknown && { unknown: unknown.reason }),
  };
}
