/** Targets in the states in which a hand-over could do harm. All are probed each second. */
import type { ProbeInput, TargetSpecInput } from '../../../shared/core/spec/spec-input.ts';
import { targetPath } from '../../support/api-client.ts';
import { type Api, register as registerAt, reportRunning } from '../api.ts';
import type { Behaviour, Probed } from './probed.ts';

/**
 * `edge-*`: always one failure below the threshold. `counting`: equal answers in blocks as long as its threshold, so
 * that an answer counted twice or not at all shows. `flapping`: healthy and failing by the clock.
 */
export type Family = 'healthy' | 'on-hold' | 'starting' | 'flapping' | 'edge-ready' | 'edge-live' | 'counting';

export type Role = {
  readonly name: string;
  readonly family: Family;
  /** The probes that arrive, by their type. */
  readonly paths: readonly string[];
};

export const namespace = 'workers';
export const periodMs = 1_000;
export const edgeThreshold = 3;
export const countingThreshold = 10;
export const flapMs = 5_000;
export const flapThreshold = 2;
/** Never reached. */
const endless = 10_000;

export type Stage = { readonly api: Api; readonly probed: Probed };

const isEdgeGood: Behaviour = (index) => index % edgeThreshold === edgeThreshold - 1;
const isCountingGood: Behaviour = (index) => Math.floor(index / countingThreshold) % 2 === 0;
const isFlapGood: Behaviour = (_, timeMs) => Math.floor(timeMs / flapMs) % 2 === 0;
const always: Behaviour = () => true;
const never: Behaviour = () => false;

/** Registers the target, and sets how the listener answers its probes. */
export async function register(stage: Stage, name: string, family: Family): Promise<Role> {
  const { api, probed } = stage;
  const paths: string[] = [];
  const probe = (type: string, behaviour: Behaviour, thresholds: Partial<ProbeInput> = {}): ProbeInput => {
    const path = `/${name}/${type}`;
    paths.push(path);
    probed.behave(path, behaviour);
    return { httpGet: { path, port: probed.port }, periodSeconds: 1, timeoutSeconds: 5, ...thresholds };
  };
  const spec = specOf(family, probe);
  const at = targetPath(name, namespace);
  await registerAt(api, at, spec);
  if (family === 'on-hold') await reportRunning(api, at, { name: 'app', containerID: `test://${name}` });
  return { name, family, paths };
}

type MakeProbe = (type: string, behaviour: Behaviour, thresholds?: Partial<ProbeInput>) => ProbeInput;

function specOf(family: Family, probe: MakeProbe): Partial<TargetSpecInput> {
  const app = (probes: object) => ({ containers: [{ name: 'app', ...probes }] });
  const both = (failureThreshold: number, successThreshold: number) => ({ failureThreshold, successThreshold });
  switch (family) {
    case 'healthy':
      return app({ readinessProbe: probe('readiness', always), livenessProbe: probe('liveness', always) });
    case 'on-hold':
      return { lifecycle: 'reported', ...app({ livenessProbe: probe('liveness', never, { failureThreshold: 2 }) }) };
    case 'starting':
      return app({
        startupProbe: probe('startup', never, { failureThreshold: endless }),
        livenessProbe: probe('liveness', never),
      });
    case 'flapping':
      return app({ readinessProbe: probe('readiness', isFlapGood, both(flapThreshold, flapThreshold)) });
    case 'edge-ready':
      return app({ readinessProbe: probe('readiness', isEdgeGood, { failureThreshold: edgeThreshold }) });
    case 'edge-live':
      return app({ livenessProbe: probe('liveness', isEdgeGood, { failureThreshold: edgeThreshold }) });
    case 'counting':
      return app({ readinessProbe: probe('readiness', isCountingGood, both(countingThreshold, countingThreshold)) });
  }
}
