/** The address that a Service of the same file gives to Pods, and the port of the Service for a port of theirs. */
import { ownProperty } from '../../lib/own-property.ts';
import type { DialledPort } from '../pod-probes.ts';
import { listOf, type Members, membersOf, numberOf, textOf, valueAt } from '../values.ts';

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

function servicePort({ port, targetPort, protocol }: Members): readonly ServicePort[] {
  const number = numberOf(port);
  if (number === undefined || (textOf(protocol) ?? 'TCP') !== 'TCP') return [];
  // As Kubernetes reads it, 0 and an empty text stand for the same port.
  return [{ port: number, target: textOf(targetPort) ?? (numberOf(targetPort) || number) }];
}

/** Those of that namespace whose selector matches the labels of the Pods; those with an address of their own first. */
export function serviceFor(services: readonly Service[], namespace: string, template: Members): readonly Service[] {
  const labels = membersOf(membersOf(template.metadata).labels);
  const selects = ({ selector }: Service) =>
    Object.entries(selector).every(([key, value]) => ownProperty(labels, key) === value);
  const found = services.filter((service) => service.namespace === namespace && selects(service));
  return [...found.filter(({ isHeadless }) => !isHeadless), ...found.filter(({ isHeadless }) => isHeadless)];
}

/** Undefined: the Service does not lead to that port of a Pod with this spec. */
export function portThrough({ isHeadless, ports }: Service, spec: Members, port: DialledPort) {
  if (isHeadless) return port.written;
  return ports.find(({ target }) => port.number !== undefined && numberOfTarget(spec, target) === port.number)?.port;
}

/**
 * Containers may have a name in common: it is the port of the first of them, sidecars last, and only of the Service's
 * protocol.
 */
function numberOfTarget(spec: Members, target: ServicePort['target']): number | undefined {
  if (typeof target === 'number') return target;
  const containers = listOf(spec.containers).map(membersOf);
  const sidecars = listOf(spec.initContainers)
    .map(membersOf)
    .filter(({ restartPolicy }) => restartPolicy === 'Always');
  const named = [...containers, ...sidecars]
    .flatMap(({ ports }) => listOf(ports).map(membersOf))
    .find(({ name, protocol }) => name === target && (textOf(protocol) ?? 'TCP') === 'TCP');
  return numberOf(named?.containerPort);
}
