/**
 * Manifests of Kubernetes: Pods, what starts Pods, and lists of them, as Helm renders them and kubectl prints them. A
 * Pod template becomes one target, for one address of all its Pods. Other kinds are skipped with a remark.
 */
import { annotationPrefix, hostAnnotation, lifecycleAnnotation } from '../api/annotations.ts';
import { podTemplates } from '../api/manifest-kinds.ts';
import { ownProperty } from '../core/own-property.ts';
import { differencesText, type Reading } from './command/reading.ts';
import { portThrough, type Service, serviceFor, serviceOf } from './kubernetes-service.ts';
import {
  type Draft,
  type Drafts,
  type Format,
  type FormatOptions,
  merged,
  noDrafts,
  type Path,
  type Remark,
  type SourceDocument,
  type SourcePath,
  targetTypeMeta,
} from './manifest.ts';
import { dialledPorts, execReadings, hasProbes, secretPath, withHandlers, withPorts } from './pod-probes.ts';
import { given, isMembers, listOf, type Members, membersOf, numberOf, textOf, valueAt } from './values.ts';

export const kubernetes: Format = {
  name: 'kubernetes',
  looks: 'a Kubernetes manifest (apiVersion and kind)',
  recognises: (document) => {
    const { apiVersion, kind } = membersOf(document);
    return textOf(apiVersion) !== undefined && textOf(kind) !== undefined;
  },
  draft(documents, options) {
    const resources = documents.flatMap(resourcesOf);
    const services = resources.flatMap((resource) => serviceOf(resource.value) ?? []);
    const workloads = resources.filter(isWorkload);
    const others = resources.filter((resource) => !isWorkload(resource));
    return merged([othersLeftOut(others), ...workloads.map((each) => draftsOf(each, { ...options, services }))]);
  },
};

type Resource = SourcePath & { readonly value: Members };

/** The document, or the items of a list, as `kubectl get -o yaml` writes it. */
function resourcesOf(document: SourceDocument): readonly Resource[] {
  const value = membersOf(document.value);
  // A custom resource may have a kind such as AllowList.
  const isList = textOf(value.kind)?.endsWith('List') === true && Array.isArray(value.items);
  if (!isList) return [{ document, path: [], value }];
  return listOf(value.items).map((item, index) => ({ document, path: ['items', index], value: membersOf(item) }));
}

type Context = FormatOptions & { readonly services: readonly Service[] };

/** The group of each kind that starts Pods; a Pod is of the core group, which has no name. */
const groups: { readonly [kind: string]: string } = {
  CronJob: 'batch',
  DaemonSet: 'apps',
  Deployment: 'apps',
  Job: 'batch',
  Pod: '',
  PodTemplate: '',
  ReplicaSet: 'apps',
  ReplicationController: '',
  StatefulSet: 'apps',
};

const kindOf = ({ value }: Resource): string => textOf(value.kind) ?? '';

const isWorkload = (resource: Resource): boolean => ownProperty(groups, kindOf(resource)) !== undefined;

const resourceName = (resource: Resource): string =>
  `${kindOf(resource) || 'item'} ${textOf(membersOf(resource.value.metadata).name) ?? ''}`.trim();

/**
 * One remark for all resources that start no Pods: a release has dozens. A Service has its effect, the address of its
 * Pods.
 */
function othersLeftOut(others: readonly Resource[]): Drafts {
  const leftOut = others.filter(({ value }) => serviceOf(value) === undefined);
  const [first] = leftOut;
  if (!first) return noDrafts;
  if (leftOut.length === 1)
    return {
      ...noDrafts,
      remarks: [
        remark(first, 'leftOut', { what: resourceName(first), reason: 'is of a kind without a known Pod template' }),
      ],
    };
  const counts = new Map<string, number>();
  for (const kind of leftOut.map(kindOf)) counts.set(kind || 'item', (counts.get(kind || 'item') ?? 0) + 1);
  const what = [...counts].map(([kind, count]) => (count === 1 ? kind : `${kind} (${count})`)).join(', ');
  return {
    ...noDrafts,
    remarks: [remark(first, 'leftOut', { what, reason: 'are of kinds without a known Pod template' })],
  };
}

function draftsOf(resource: Resource, context: Context): Drafts {
  const { value } = resource;
  const kind = kindOf(resource);
  const what = resourceName(resource);
  const group = ownProperty(groups, kind) ?? '';
  if (groupOf(textOf(value.apiVersion) ?? '') !== group) {
    const reason = `is not of ${group === '' ? 'v1' : `${group}/v1`}, so its Pod template may be another thing`;
    return { ...noDrafts, remarks: [remark(resource, 'leftOut', { what, reason })] };
  }
  const pod = podOf(resource, kind);
  if (pod === undefined)
    return { ...noDrafts, mistakes: [{ ...resource, detail: `must have a Pod template at ${podTemplates[kind]}` }] };
  const why = whyNotProbed(pod);
  if (why === undefined) return drafted(pod, { what, kind }, context);
  return { ...noDrafts, remarks: [remark(resource, 'leftOut', { what, reason: why.reason }, why.path)] };
}

const groupOf = (apiVersion: string): string => (apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '');

type Remarked = { readonly what: string; readonly reason: string };

const remark = (at: SourcePath, kind: Remark['kind'], { what, reason }: Remarked, path: Path = []): Remark => ({
  document: at.document,
  path: [...at.path, ...path],
  kind,
  what,
  reason,
});

/** A Pod, or the resource with its Pod template. */
type Pod = {
  readonly resource: Resource;
  readonly template: Members;
  /** From the resource. */
  readonly path: Path;
};

function podOf(resource: Resource, kind: string): Pod | undefined {
  const path = (ownProperty(podTemplates, kind) ?? '').split('.').slice(0, -1);
  const template = valueAt(resource.value, path);
  return isMembers(template) && isMembers(template.spec) ? { resource, template, path } : undefined;
}

type WhyNot = { readonly reason: string; readonly path?: Path };

const hookAnnotation = 'helm.sh/hook';

function whyNotProbed({ resource: { value }, template, path }: Pod): WhyNot | undefined {
  const spec = membersOf(template.spec);
  if (!hasProbes(spec)) return { reason: 'has no probes' };
  if (valueAt(value, ['metadata', 'annotations', hookAnnotation]) !== undefined)
    return { reason: 'is a hook of Helm, which runs it by itself and not with the release' };
  if (valueAt(value, ['spec', 'replicas']) === 0) return { reason: 'is scaled to 0: there is nothing to probe' };
  const secret = secretPath(spec);
  const reason = 'has a secret in a header, which is not stored; write a reference, such as env:PROBELET_SECRET_TOKEN';
  return secret && { reason, path: [...path, 'spec', ...secret] };
}

type Named = { readonly what: string; readonly kind: string };

function drafted(pod: Pod, { what, kind }: Named, context: Context): Drafts {
  const { resource, path } = pod;
  const address = addressOf(pod, podSpec(pod, context), context);
  if (address.kind === 'none')
    return { ...noDrafts, remarks: [remark(resource, 'leftOut', { what, reason: address.reason })] };
  const gates = gatesRemark(pod, what);
  const spec = { ...address.spec, host: address.host, ...(gates && { readinessGates: undefined }) };
  const inPods: Path = [...resource.path, ...path];
  const draft: Draft = {
    manifest: { ...targetTypeMeta, metadata: metadataOf(pod), spec: given(spec) },
    at: resource,
    sources: [
      { pointer: '', path: resource.path },
      { pointer: '/metadata/labels', path: [...inPods, 'metadata', 'labels'] },
      { pointer: '/metadata/annotations', path: [...inPods, 'metadata', 'annotations'] },
      { pointer: '/spec', path: [...inPods, 'spec'] },
      { pointer: '/spec/host', path: [...resource.path, ...address.path] },
    ],
  };
  const reason = address.approximated;
  const service = reason === undefined ? [] : [remark(resource, 'approximated', { what, reason })];
  return {
    drafts: [draft],
    remarks: [...service, ...copies(resource, what, kind), ...commands(pod, what, context), ...(gates ?? [])],
    mistakes: [],
  };
}

type Address =
  | {
      readonly kind: 'found';
      readonly host: string;
      /** From the resource; empty: it does not say its address. */
      readonly path: Path;
      /** Of the Pod, with the ports of that address. */
      readonly spec: Members;
      readonly approximated?: string;
    }
  | { readonly kind: 'none'; readonly reason: string };

/** What the Pod or its template names itself, else the option, else a Service. */
function addressOf({ template, path, resource }: Pod, spec: Members, { host, services }: Context): Address {
  const places: readonly Path[] = [
    [...path, 'spec', 'host'],
    [...path, 'status', 'podIP'],
    [...path, 'metadata', 'annotations', hostAnnotation],
    ['metadata', 'annotations', hostAnnotation],
  ];
  for (const place of places) {
    const named = textOf(valueAt(resource.value, place));
    if (named !== undefined) return { kind: 'found', host: named, path: place, spec };
  }
  if (host !== undefined) return { kind: 'found', host, path: [], spec };
  return throughService(spec, serviceFor(services, resource.value, template));
}

const mend = `--host or the annotation ${hostAnnotation} names one`;

function throughService(spec: Members, candidates: readonly Service[]): Address {
  const [first] = candidates;
  if (!first) return { kind: 'none', reason: `has no address, and no Service of the file selects its Pods: ${mend}` };
  const ports = dialledPorts(spec);
  const service = candidates.find((each) => ports.every((port) => portThrough(each, port) !== undefined));
  if (!service) {
    const port = ports.find((each) => portThrough(first, each) === undefined);
    return { kind: 'none', reason: `port ${port?.written} of a probe is no port of Service ${first.name}: ${mend}` };
  }
  const { host } = service;
  const approximated = `is probed at ${host}, the address of Service ${service.name}, which any of its Pods may answer`;
  const mapped = withPorts(spec, (port) => portThrough(service, port) ?? port.written);
  return { kind: 'found', host, path: [], spec: mapped, approximated };
}

/** The metadata of its Pods, under the name of the resource. */
function metadataOf({ resource: { value }, template }: Pod): Members {
  const { name, namespace, annotations } = membersOf(value.metadata);
  const ofPods = membersOf(template.metadata);
  const ours = Object.entries(membersOf(annotations)).filter(([key]) => key.startsWith(annotationPrefix));
  const all = Object.entries({ ...Object.fromEntries(ours), ...membersOf(ofPods.annotations) });
  // The address is the spec's now, and what kubectl keeps for itself is the whole manifest again.
  const kept = all.filter(([key]) => key !== hostAnnotation && !key.startsWith('kubectl.kubernetes.io/'));
  const labels = Object.keys(membersOf(ofPods.labels)).length > 0 ? ofPods.labels : undefined;
  return given({ namespace, name, labels, annotations: kept.length > 0 ? Object.fromEntries(kept) : undefined });
}

/** A condition that another controller sets on a Pod of the cluster would never be set here. */
function gatesRemark(pod: Pod, what: string): readonly Remark[] | undefined {
  const { readinessGates, lifecycle } = membersOf(pod.template.spec);
  const isReported = [lifecycle, membersOf(metadataOf(pod).annotations)[lifecycleAnnotation]].includes('reported');
  if (isReported || listOf(readinessGates).length === 0) return undefined;
  const reason = `are conditions that are set in the cluster only; with ${lifecycleAnnotation}: reported they are kept`;
  const path = [...pod.path, 'spec', 'readinessGates'];
  return [remark(pod.resource, 'leftOut', { what: `${what}: spec.readinessGates`, reason }, path)];
}

/** A command runs in a container, where no prober is: what it asks over the network is asked by a handler. */
const podSpec = ({ template }: Pod, { keepsCommands = false }: FormatOptions): Members =>
  keepsCommands ? membersOf(template.spec) : withHandlers(membersOf(template.spec));

function commands({ resource, template, path }: Pod, what: string, { keepsCommands }: Context): readonly Remark[] {
  return execReadings(membersOf(template.spec)).map((each) => {
    const at = [...path, 'spec', ...each.path];
    return remark(resource, 'approximated', { what, reason: commandReason(each.reading, keepsCommands) }, at);
  });
}

function commandReason(reading: Reading, isKept = false): string {
  const beside = 'runs its exec probe beside the prober and not in the container';
  if (reading.kind === 'runs') return `${beside}: ${reading.reason}`;
  const asked = 'asks over the network by a command, and is asked by a handler from outside its container';
  return isKept ? beside : `${asked}${differencesText(reading.differences)}`;
}

/** One target stands for Pods that come and go, or for several. */
function copies(resource: Resource, what: string, kind: string): readonly Remark[] {
  const approximated = (reason: string, path: Path) => [remark(resource, 'approximated', { what, reason }, path)];
  if (kind === 'Job' || kind === 'CronJob') return approximated('fails its probes while it does not run', []);
  if (kind === 'DaemonSet') return approximated('has a Pod on each node: one target stands for all of them', []);
  const replicas = numberOf(valueAt(resource.value, ['spec', 'replicas'])) ?? 1;
  if (replicas <= 1) return [];
  return approximated(`has ${replicas} replicas: one target stands for all of them`, ['spec', 'replicas']);
}
