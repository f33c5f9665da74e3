/** Targets in the states in which a hand-over could do harm. All are probed each second. */
import assert from 'node:assert/strict';
import type { ProbeInput, TargetSpecInput } from '../../../shared/core/spec-input.ts';
import type { Behaviour, Probed } from './probed.ts';

/**
 * `edge-*`: always one failure below the threshold. `counting`: changes its result with each block of as many equal answers as its
 * threshold, so that one answer counted twice or not at all shows. `flapping`: good and bad by the clock.
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

export type Api = (
  method: string,
  path: string,
  body: object,
) => Promise<{ readonly status: number; readonly text: string }>;

export type Stage = { readonly api: Api; readonly probed: Probed };

const isEdgeGood: Behaviour = (index) => index % edgeThreshold === edgeThreshold - 1;
const isCountingGood: Behaviour = (index) => Math.floor(index / countingThreshold) % 2 === 0;
const isFlapGood: Behaviour = (_, timeMs) => Math.floor(timeMs / flapMs) % 2 === 0;
const always: Behaviour = () => true;
const never: Behaviour = () => false;

/** Registers the target and tells the listener how to answer it. */
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
  const at = `/v1/namespaces/${namespace}/targets/${name}`;
  const { status, text } = await api('PUT', at, { spec: { host: '127.0.0.1', ...spec } });
  assert.equal(status, 201, text);
  if (family === 'on-hold') await report(api, at, name);
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

async function report(api: Api, at: string, name: string): Promise<void> {
  const state = { running: { startedAt: new Date().toISOString() } };
  const containerStatuses = [{ name: 'app', containerID: `test://${name}`, state }];
  const { status, text } = await api('PUT', `${at}/status`, { status: { phase: 'Running', containerStatuses } });
  assert.equal(status, 200, text);
}
