/**
 * Manifests of Kubernetes: Pods, what starts Pods, and lists of them, as Helm renders them and kubectl prints them. A
 * Pod template becomes one target, for one address of all its Pods. Other kinds are skipped with a remark.
 */
import { annotationPrefix, hostAnnotation, lifecycleAnnotation } from '../../api/schema/annotations.ts';
import { podTemplates } from '../../api/schema/manifest-kinds.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { differencesText, type Reading } from '../command/reading.ts';
import {
  type Draft,
  type Drafts,
  defaultNamespace,
  type Format,
  type FormatOptions,
  type Mistake,
  merged,
  noDrafts,
  type Path,
  type Remark,
  targetTypeMeta,
} from '../manifest.ts';
import { type CutNumber, dialledPorts, execReadings, withHandlers, withinLimits, withPorts } from '../pod-probes.ts';
import { given, isMembers, listOf, type Members, membersOf, numberOf, textOf, valueAt } from '../values.ts';
import { othersLeftOut, whyNotProbed } from './left-out.ts';
import { groupOf, kindOf, type Resource, remark, resourceName, resourcesOf } from './resource.ts';
import { portThrough, type Service, serviceFor, serviceOf } from './service.ts';

export const kubernetes: Format = {
  name: 'kubernetes',
  looks: 'a Kubernetes manifest (apiVersion and kind)',
  recognises: (document) => {
    const { apiVersion, kind } = membersOf(document);
    return textOf(apiVersion) !== undefined && textOf(kind) !== undefined;
  },
  draft(documents, options) {
    const { namespace = defaultNamespace } = options;
    const resources = documents.flatMap(resourcesOf);
    const services = resources.flatMap((resource) => serviceOf(resource.value, namespace) ?? []);
    const workloads = resources.filter(isWorkload);
    const others = resources.filter((resource) => !isWorkload(resource) && !serviceOf(resource.value, namespace));
    const drafted = new Map(workloads.map((each) => [each, draftsOf(each, { ...options, namespace, services })]));
    return merged([othersLeftOut(others), ...withKindInName(withoutOwned(drafted), namespace)]);
  },
};

type Context = FormatOptions & { readonly namespace: string; readonly services: readonly Service[] };

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

const isWorkload = (resource: Resource): boolean => ownProperty(groups, kindOf(resource)) !== undefined;

/** A Pod that a controller made is a target only if no controller above it is one: else it would be probed twice. */
function withoutOwned(drafted: ReadonlyMap<Resource, Drafts>): ReadonlyMap<Resource, Drafts> {
  const byName = new Map([...drafted.keys()].map((each) => [ownedName(each, each.value), each]));
  const ownerOf = (resource: Resource): Resource | undefined =>
    listOf(membersOf(resource.value.metadata).ownerReferences)
      .map(membersOf)
      .flatMap((owner) => byName.get(ownedName(resource, { kind: owner.kind, metadata: owner })) ?? [])
      .find((owner) => kindOf(owner) !== 'Pod');
  const kept = ([resource, own]: readonly [Resource, Drafts]): Drafts => {
    const owners = chainOf(resource, ownerOf);
    const probed = owners.findLast((owner) => (drafted.get(owner)?.drafts.length ?? 0) > 0);
    if (!probed) return own;
    const reason = `is of ${resourceName(probed)}, which is a target`;
    return { ...noDrafts, remarks: [remark(resource, 'note', resourceName(resource), reason)] };
  };
  return new Map([...drafted].map((each) => [each[0], kept(each)]));
}

/** The owner, its owner and so on, each once. */
function chainOf(resource: Resource, ownerOf: (resource: Resource) => Resource | undefined): readonly Resource[] {
  const chain = new Set<Resource>();
  let owner = ownerOf(resource);
  for (let step = 0; owner && step < ownersMax; step += 1) {
    chain.add(owner);
    owner = ownerOf(owner);
  }
  chain.delete(resource);
  return [...chain];
}

/** A Pod has a ReplicaSet, which has a Deployment. */
const ownersMax = 5;

/** An owner is in the namespace of what it owns. */
const ownedName = ({ value }: Resource, { kind, metadata }: Members): string =>
  JSON.stringify([kind, membersOf(value.metadata).namespace ?? '', membersOf(metadata).name]);

function draftsOf(resource: Resource, context: Context): Drafts {
  const { value } = resource;
  const kind = kindOf(resource);
  const what = resourceName(resource);
  const group = ownProperty(groups, kind) ?? '';
  if (groupOf(textOf(value.apiVersion) ?? '') !== group) {
    const reason = `is not of ${group === '' ? 'v1' : `${group}/v1`}, so its Pod template may be another thing`;
    return { ...noDrafts, remarks: [remark(resource, 'leftOut', what, reason)] };
  }
  const pod = podOf(resource, kind);
  if (pod === undefined) return { ...noDrafts, mistakes: [missingTemplate(resource, kind)] };
  const why = whyNotProbed(value, pod.template, pod.path);
  if (why === undefined) return draftOf(pod, what, kind, context);
  return { ...noDrafts, remarks: [remark(resource, why.kind, what, why.reason, why.path)] };
}

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

function missingTemplate(resource: Resource, kind: string): Mistake {
  const path = (ownProperty(podTemplates, kind) ?? 'spec').split('.');
  const detail =
    kind === 'Pod'
      ? 'must be set: it has the containers of the Pod'
      : `must be set: it has the containers of the Pods of a ${kind}`;
  return { document: resource.document, path: [...resource.path, ...path], detail };
}

function draftOf(pod: Pod, what: string, kind: string, context: Context): Drafts {
  const { resource, path } = pod;
  const limited = withinLimits(podSpec(pod, context));
  const address = addressOf(pod, limited.spec, context);
  if (address.kind === 'none') return { ...noDrafts, remarks: [remark(resource, 'leftOut', what, address.reason)] };
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
  const service = reason === undefined ? [] : [remark(resource, 'approximated', what, reason)];
  return {
    drafts: [draft],
    remarks: [
      ...service,
      ...copies(resource, what, kind),
      ...commands(pod, what, context),
      ...(gates ?? []),
      ...reductions(pod, what, limited.cut),
    ],
    mistakes: [],
  };
}

const reductions = ({ resource, path }: Pod, what: string, cut: readonly CutNumber[]): readonly Remark[] =>
  cut.map(({ path: at, field, written, max }) => {
    const reason = `has ${field} of ${written}, which becomes ${max}`;
    return remark(resource, 'approximated', what, reason, [...path, 'spec', ...at]);
  });

type Address =
  | {
      readonly kind: 'found';
      readonly host: string;
      /** From the resource; empty: it does not say its address. */
      readonly path: Path;
      /** The spec of the Pod, with the ports of that address. */
      readonly spec: Members;
      readonly approximated?: string;
    }
  | { readonly kind: 'none'; readonly reason: string };

/** The address that the Pod or its template names, else the option, else a Service. */
function addressOf({ template, path, resource }: Pod, spec: Members, { host, namespace, services }: Context): Address {
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
  const own = textOf(membersOf(resource.value.metadata).namespace) ?? namespace;
  return throughService(spec, serviceFor(services, own, template));
}

const mend = `--host or the annotation ${hostAnnotation} names one`;

function throughService(spec: Members, candidates: readonly Service[]): Address {
  const [first] = candidates;
  if (!first) return { kind: 'none', reason: `has no address, and no Service of the file selects its Pods: ${mend}` };
  const ports = dialledPorts(spec);
  const service = candidates.find((each) => ports.every((port) => portThrough(each, spec, port) !== undefined));
  if (!service) {
    const port = ports.find((each) => portThrough(first, spec, each) === undefined);
    return { kind: 'none', reason: `port ${port?.written} of a probe is no port of Service ${first.name}: ${mend}` };
  }
  const { host } = service;
  const approximated = `is probed at ${host}, the address of Service ${service.name}, which any of its Pods may answer`;
  const mapped = withPorts(spec, (port) => portThrough(service, spec, port) ?? port.written);
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
  return [remark(pod.resource, 'approximated', `${what}: spec.readinessGates`, reason, path)];
}

/** A command would run in a container, where there is no prober, so a handler asks what it asks over the network. */
const podSpec = ({ template }: Pod, { keepsCommands = false }: FormatOptions): Members =>
  keepsCommands ? membersOf(template.spec) : withHandlers(membersOf(template.spec));

function commands({ resource, template, path }: Pod, what: string, { keepsCommands }: Context): readonly Remark[] {
  return execReadings(membersOf(template.spec)).map((each) => {
    const at = [...path, 'spec', ...each.path];
    return remark(resource, 'approximated', what, commandReason(each.reading, keepsCommands), at);
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
  const approximated = (reason: string, path: Path) => [remark(resource, 'approximated', what, reason, path)];
  if (kind === 'Job' || kind === 'CronJob') return approximated('fails its probes while it does not run', []);
  if (kind === 'DaemonSet') return approximated('has a Pod on each node: one target stands for all of them', []);
  const replicas = numberOf(valueAt(resource.value, ['spec', 'replicas'])) ?? 1;
  if (replicas <= 1) return [];
  return approximated(`has ${replicas} replicas: one target stands for all of them`, ['spec', 'replicas']);
}

/**
 * Kubernetes allows resources of several kinds to have one name. Each of them gets its kind behind its name, so that
 * their order does not matter. Two of one kind stay a mistake.
 * @param ofNameless the namespace of a resource that does not name one
 */
function withKindInName(drafted: ReadonlyMap<Resource, Drafts>, ofNameless: string): readonly Drafts[] {
  const keyOf = ({ manifest }: Draft): string => {
    const { namespace = ofNameless, name } = membersOf(manifest.metadata);
    return JSON.stringify([namespace, name]);
  };
  const kinds = new Map<string, Set<string>>();
  for (const [resource, { drafts }] of drafted)
    for (const draft of drafts) {
      const known = kinds.get(keyOf(draft)) ?? new Set<string>();
      kinds.set(keyOf(draft), known.add(kindOf(resource)));
    }
  return [...drafted].map(([resource, own]) => {
    const shared = own.drafts.find((draft) => (kinds.get(keyOf(draft))?.size ?? 0) > 1);
    return shared ? renamed(resource, shared, own) : own;
  });
}

function renamed(resource: Resource, draft: Draft, { remarks, mistakes }: Drafts): Drafts {
  const metadata = membersOf(draft.manifest.metadata);
  const name = `${metadata.name}-${kindOf(resource).toLowerCase()}`;
  const reason = `becomes the target ${name}, since a resource of another kind has its name, too`;
  return {
    drafts: [{ ...draft, manifest: { ...draft.manifest, metadata: { ...metadata, name } } }],
    remarks: [...remarks, remark(resource, 'note', resourceName(resource), reason, ['metadata', 'name'])],
    mistakes,
  };
}
