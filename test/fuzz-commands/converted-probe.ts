/** What `probelet convert` makes of a command, and the probe that the product then runs. */
import { resolveProbeRequest } from '../../shared/core/spec/probe-request.ts';
import { specProbes } from '../../shared/core/spec/spec.ts';
import { systemClock as clock } from '../../shared/lib/clock.ts';
import { convertFile } from '../../shared/manifest/convert.ts';
import { proberRegistry } from '../../shared/prober/registry.ts';
import { loopbackDial } from '../support/loopback-dial.ts';
import { noSecrets } from '../support/no-secrets.ts';
import type { GeneratedCommand } from './generate.ts';

export type Converted =
  /** A handler takes the place of the command. `notes` is what the user reads about it. */
  | {
      readonly kind: 'handler';
      readonly handler: string;
      readonly notes: string;
      readonly probe: () => Promise<string>;
    }
  | { readonly kind: 'stays'; readonly notes: string };

const host = '127.0.0.1';

/** Enough on a busy machine. A gRPC probe of a closed port uses all of that time, as kubelet's does. */
const timeoutSecondsOf = (tool: string): number => (tool === 'grpc_health_probe' ? 3 : 20);

const documentOf = ({ form, tool, written }: GeneratedCommand): unknown =>
  form === 'compose'
    ? { services: { app: { healthcheck: { test: written, timeout: `${timeoutSecondsOf(tool)}s` } } } }
    : {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'app' } },
        spec: {
          containers: [
            { name: 'app', readinessProbe: { exec: { command: written }, timeoutSeconds: timeoutSecondsOf(tool) } },
          ],
        },
      };

const probers = proberRegistry({
  clock,
  dial: loopbackDial,
  run: () => Promise.resolve({ kind: 'notStarted', message: 'no commands here', isProberError: true }),
  secrets: noSecrets,
});

export function convertedProbe(command: GeneratedCommand): Converted {
  const conversion = convertFile({ name: 'file.json', text: JSON.stringify(documentOf(command)) }, { host });
  if (conversion.kind === 'invalid') throw new Error(conversion.errors.map(({ detail }) => detail).join('; '));
  const notes = conversion.notes.map(({ kind, reason }) => `${kind}: ${reason}`).join('\n');
  const [target] = conversion.targets;
  const [found] = target ? specProbes(target.spec) : [];
  if (!target || !found || found.probe.exec) return { kind: 'stays', notes };
  const { probe, container } = found;
  const subject = {
    target: { namespace: 'default', name: 'app', uid: '' },
    host,
    container: { ...container, name: 'app' },
  };
  const resolved = resolveProbeRequest(probe, subject);
  const { httpGet, tcpSocket, grpc } = probe;
  const handler = JSON.stringify({ httpGet, tcpSocket, grpc });
  if (resolved.kind === 'error') return { kind: 'handler', handler, notes, probe: async () => resolved.error };
  const { request } = resolved;
  const ask = async () => {
    switch (request.kind) {
      case 'http':
        return (await probers.http(request)).outcome;
      case 'tcp':
        return (await probers.tcp(request)).outcome;
      case 'grpc':
        return (await probers.grpc(request)).outcome;
      case 'exec':
        return 'exec';
    }
  };
  return { kind: 'handler', handler, notes, probe: ask };
}
