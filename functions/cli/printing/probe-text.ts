/** What a probe asks and how often, as `kubectl describe` writes it (k8s.io/kubectl pkg/describe: DescribeProbe). */
import type { ContainerView, TargetView } from '../../../shared/api/schema/target-schema.ts';

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

/** In kubectl's order, each with the name that it has there. */
export const probesOf = (container: ContainerView): readonly (readonly [name: string, probe: ProbeSpecView])[] => [
  ...(container.livenessProbe ? [['Liveness', container.livenessProbe] as const] : []),
  ...(container.readinessProbe ? [['Readiness', container.readinessProbe] as const] : []),
  ...(container.startupProbe ? [['Startup', container.startupProbe] as const] : []),
];
