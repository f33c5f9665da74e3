/** The address that a Service of the same file gives to Pods, and the port of the Service for a port of theirs. */
import type { DialledPort } from './pod-probes.ts';
import { listOf, type Members, membersOf, numberOf, textOf, valueAt } from './values.ts';

export type Service = {
  readonly name: string;
  readonly namespace: string;
  readonly host: string;
  readonly selector: Members;
  /** Its name resolves to the Pods themselves, so their ports are dialled. */
  readonly isHeadless: boolean;
  readonly ports: readonly ServicePort[];
};

type ServicePort = { readonly port: number; readonly target: number | string };

/** The domain of a cluster unless it is configured otherwise. */
const clusterDomain = 'svc.cluster.local';

/**
 * `ofNameless`: the namespace of what does not name one. Undefined: the document is no Service, or one that selects no
 * Pods.
 */
export function serviceOf(
  { apiVersion, kind, metadata, spec, status }: Members,
  ofNameless: string,
): Service | undefined {
  const { name, namespace } = membersOf(metadata);
  const { selector, type, clusterIP, ports } = membersOf(spec);
  const isService = apiVersion === 'v1' && kind === 'Service' && type !== 'ExternalName';
  const named = textOf(name);
  if (!isService || named === undefined || Object.keys(membersOf(selector)).length === 0) return undefined;
  const within = textOf(namespace) ?? ofNameless;
  return {
    name: named,
    namespace: within,
    host: externalHost(spec, status) ?? `${named}.${within}.${clusterDomain}`,
    selector: membersOf(selector),
    isHeadless: clusterIP === 'None',
    ports: listOf(ports).map(membersOf).flatMap(servicePort),
  };
}

/** An address outside the cluster, if the Service says one. */
function externalHost(spec: unknown, status: unknown): string | undefined {
  const ingress = membersOf(valueAt(status, ['loadBalancer', 'ingress', 0]));
  return textOf(ingress.ip) ?? textOf(ingress.hostname) ?? textOf(valueAt(spec, ['externalIPs', 0]));
}

function servicePort({ port, targetPort, protocol = 'TCP' }: Members): readonly ServicePort[] {
  const number = numberOf(port);
  if (number === undefined || protocol !== 'TCP') return [];
  return [{ port: number, target: numberOf(targetPort) ?? textOf(targetPort) ?? number }];
}

/** Those of that namespace whose selector matches the labels of the Pods; those with an address of their own first. */
export function serviceFor(services: readonly Service[], namespace: string, template: Members): readonly Service[] {
  const labels = membersOf(membersOf(template.metadata).labels);
  const selects = ({ selector }: Service) => Object.entries(selector).every(([key, value]) => labels[key] === value);
  const found = services.filter((service) => service.namespace === namespace && selects(service));
  return [...found.filter(({ isHeadless }) => !isHeadless), ...found.filter(({ isHeadless }) => isHeadless)];
}

/** Undefined: the Service does not lead to that port. */
export function portThrough({ isHeadless, ports }: Service, port: DialledPort): number | string | undefined {
  if (isHeadless) return port.written;
  return ports.find(({ target }) => target === port.number || port.names.some((name) => name === target))?.port;
}
