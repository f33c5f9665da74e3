/**
 * Probes in words: what a probe asks and how often, as `kubectl describe` writes it (k8s.io/kubectl pkg/describe:
 * DescribeProbe), the phases of an attempt, and the steps of a simulation.
 */
import type { ContainerView, TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { PhaseTimings, ProbeType } from '../../../shared/core/spec/types.ts';
import type { RehearsedProbe, RehearsedStep } from '../../../shared/core/status/rehearsal.ts';
import { visibleLine } from '../../../shared/lib/visible-text.ts';

type ProbeSpecView = NonNullable<ContainerView['livenessProbe']>;

/**
 * `http-get http://:8080/healthz delay=0s timeout=1s period=10s #success=1 #failure=3`. A host is shown where the
 * handler names one; otherwise it is the target's. The path is as it is asked for, which kubectl encodes once more.
 */
export function probeText(probe: ProbeSpecView): string {
  const { initialDelaySeconds, timeoutSeconds, periodSeconds, successThreshold, failureThreshold } = probe;
  const times = `delay=${initialDelaySeconds}s timeout=${timeoutSeconds}s period=${periodSeconds}s`;
  return `${handlerText(probe)} ${times} #success=${successThreshold} #failure=${failureThreshold}`;
}

function handlerText({ exec, httpGet, tcpSocket, grpc }: ProbeSpecView): string {
  if (exec) return `exec [${exec.command.join(' ')}]`;
  if (httpGet) {
    const { scheme, host = '', port, path } = httpGet;
    return `http-get ${scheme.toLowerCase()}://${bracketed(host)}:${port}${path.startsWith('/') ? '' : '/'}${path}`;
  }
  if (tcpSocket) return `tcp-socket ${bracketed(tcpSocket.host ?? '')}:${tcpSocket.port}`;
  if (grpc) return `grpc :${grpc.port} ${grpc.service ?? ''}`.trimEnd();
  return 'unknown';
}

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/** The ports that probes ask, in the order of the spec: `8080/http,5432/tcp`. */
export function portsText({ initContainers, containers }: TargetView['spec']): string {
  const asked = [...initContainers, ...containers].flatMap((container) =>
    probesOf(container).flatMap(([, { httpGet, tcpSocket, grpc }]) => {
      if (httpGet) return [`${portOf(container, httpGet.port)}/${httpGet.scheme.toLowerCase()}`];
      if (tcpSocket) return [`${portOf(container, tcpSocket.port)}/tcp`];
      return grpc ? [`${grpc.port}/grpc`] : [];
    }),
  );
  return asked.length === 0 ? '<none>' : [...new Set(asked)].join(',');
}

/** A name that no container port has is shown as it is. */
const portOf = ({ ports = [] }: ContainerView, port: number | string): number | string =>
  ports.find(({ name }) => name === port)?.containerPort ?? port;

/** The probes of a container in kubectl's order, each with its name there. */
export const probesOf = (container: ContainerView): readonly (readonly [name: string, probe: ProbeSpecView])[] => [
  ...(container.livenessProbe ? [['Liveness', container.livenessProbe] as const] : []),
  ...(container.readinessProbe ? [['Readiness', container.readinessProbe] as const] : []),
  ...(container.startupProbe ? [['Startup', container.startupProbe] as const] : []),
];

export type ShownAttempt = {
  readonly timings: { readonly [phase in keyof PhaseTimings]?: number | undefined };
  readonly output: string;
  readonly error?: string | undefined;
  readonly failureClass?: string | undefined;
};

/** The phases of an attempt, and why it did not succeed, each on an indented line. */
export const attemptLines = ({ timings, output, error, failureClass }: ShownAttempt): readonly string[] => [
  `  ${phasesText(timings)}`,
  ...[error ?? output].filter((text) => text !== '').map((text) => `  ${firstLine(text)}`),
  ...(failureClass ? [`  ${visibleLine(failureClass)}`] : []),
];

const phaseNames = { dnsMs: 'DNS', connectMs: 'connect', tlsMs: 'TLS', firstByteMs: 'first byte', totalMs: 'total' };

const phasesText = (timings: ShownAttempt['timings']): string =>
  (Object.keys(phaseNames) as (keyof PhaseTimings)[])
    .flatMap((phase) => {
      const ms = timings[phase];
      return ms === undefined ? [] : [`${phaseNames[phase]} ${ms.toFixed(1)} ms`];
    })
    .join(', ');

const outputCharactersMax = 200;

function firstLine(text: string): string {
  const [first = ''] = text.split('\n');
  const line = visibleLine(first);
  return line.length > outputCharactersMax ? `${line.slice(0, outputCharactersMax)}…` : line;
}

/** The run of equal findings and its threshold, such as `2/3`. */
export const runText = ({ run, threshold }: Pick<RehearsedStep, 'run' | 'threshold'>): string =>
  threshold === undefined ? '-' : `${Math.min(run, threshold)}/${threshold}`;

const effects: { readonly [type in ProbeType]: { readonly [result in 'success' | 'failure']: string } } = {
  readiness: { success: 'the container is ready', failure: 'the container is not ready' },
  liveness: { success: 'the container is alive', failure: 'a restart is requested' },
  startup: { success: 'readiness and liveness probes begin', failure: 'a restart is requested' },
};

/** The consequence of a step; empty if its finding changes nothing. */
export function effectOf(
  { probeType }: Pick<RehearsedProbe, 'probeType'>,
  { isNew, result, finding, onHold }: Omit<RehearsedStep, 'afterMs'>,
): string {
  if (onHold) return 'waits for the next container';
  if (finding === 'error') return 'changes nothing; the second in a row is shown as unknown';
  return isNew && (result === 'success' || result === 'failure') ? effects[probeType][result] : '';
}
