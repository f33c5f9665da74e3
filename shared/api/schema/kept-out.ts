/**
 * Fields of a Kubernetes Pod that do not concern probing: known, removed before the manifest is decoded, and named to
 * the client. Source: PodSpec, Container, ObjectMeta and PodStatus of the Kubernetes API, v1.36.
 */

import { variablesIn } from '../../core/spec/handler-exec.ts';
import { mapShape } from '../../core/spec/handler-fields.ts';
import { mapHandlers } from '../../core/spec/handlers.ts';
import { isEnvName } from '../../core/spec/names.ts';
import { ownProperty } from '../../lib/own-property.ts';
import type { NamesAt, Path } from './shape.ts';

export type KeptOut = {
  /**
   * Without the removed fields and without nulls, which Kubernetes reads as absent, or in a list as the zero of its
   * type.
   */
  readonly value: unknown;
  /** Paths of the removed fields, list positions as `[]`; each once. */
  readonly ignored: readonly string[];
};

/** What to remove from an object, and what to descend into. `only`: everything else is removed. */
type Shape = {
  readonly drop?: ReadonlySet<string>;
  readonly only?: ReadonlySet<string>;
  readonly into?: { readonly [field: string]: Shape };
  /**
   * The value of a null in this list, or in this object of texts: the zero of its type, as in Go. Absent: a null field
   * counts as absent.
   */
  readonly nullIs?: string | number;
  /** By list: which of its elements to remove, decided from the whole object. */
  readonly without?: { readonly [field: string]: (object: object) => ReadonlySet<unknown> };
};

const names = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

const texts: Shape = { nullIs: '' };
/** Only in a list of texts can a null stand for a value. */
const probe: Shape = {
  into: mapHandlers((fields) => ({ into: mapShape(fields, ({ kind }) => (kind === 'texts' ? texts : {})) })),
};

const probes = { startupProbe: probe, readinessProbe: probe, livenessProbe: probe };

const container: Shape = {
  drop: names(`args command envFrom image imagePullPolicy lifecycle resizePolicy resources securityContext stdin stdinOnce
    terminationMessagePath terminationMessagePolicy tty volumeDevices volumeMounts workingDir`),
  into: {
    ports: { drop: names('hostIP hostPort protocol') },
    env: { drop: names('valueFrom') },
    restartPolicyRules: { into: { exitCodes: { into: { values: { nullIs: 0 } } } } },
    ...probes,
  },
  without: { env: unusedVariables },
};

const pod: Shape = {
  into: {
    metadata: {
      drop: names(`creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName generation managedFields
        ownerReferences resourceVersion selfLink uid`),
      into: { labels: texts, annotations: texts },
    },
    spec: {
      drop: names(`activeDeadlineSeconds affinity automountServiceAccountToken dnsConfig dnsPolicy enableServiceLinks
        ephemeralContainers hostAliases hostIPC hostNetwork hostPID hostUsers hostname hostnameOverride imagePullSecrets nodeName
        nodeSelector os overhead preemptionPolicy priority priorityClassName resourceClaims resources runtimeClassName schedulerName
        schedulingGates schedulingGroup securityContext serviceAccount serviceAccountName setHostnameAsFQDN shareProcessNamespace
        subdomain tolerations topologySpreadConstraints volumes workloadRef`),
      into: { containers: container, initContainers: container, ...probes },
    },
    status: { only: names('podIP') },
  },
};

const reportedContainer: Shape = {
  drop: names(`allocatedResources allocatedResourcesStatus image imageID resources stopSignal user volumeMounts`),
  into: {
    state: { into: { terminated: { drop: names('containerID signal') } } },
    lastState: { into: { terminated: { drop: names('containerID signal') } } },
  },
};

const report: Shape = {
  drop: names('metadata spec'),
  into: {
    status: {
      drop: names(`allocatedResources ephemeralContainerStatuses extendedResourceClaimStatus hostIP hostIPs message nominatedNodeName
        observedGeneration podIP podIPs qosClass reason resize resourceClaimStatuses resources startTime`),
      into: {
        containerStatuses: reportedContainer,
        initContainerStatuses: reportedContainer,
        conditions: { drop: names('lastProbeTime observedGeneration') },
      },
    },
  },
};

/**
 * For a manifest to register.
 * @param membersMax the value of one with more members has more than these, and not all
 */
export const keptOutOfManifest = (manifest: unknown, membersMax?: number): KeptOut =>
  keptOut(manifest, pod, membersMax);

/** For a Pod whose status is reported. */
export const keptOutOfReport = (body: unknown): KeptOut => keptOut(body, report);

/** Names of the fields that are removed from the object at this path of a manifest. */
export const keptOutOfManifestAt: NamesAt = (path) => droppedAt(pod, path);

/** Names of the fields that are removed from the object at this path of a report. */
export const keptOutOfReportAt: NamesAt = (path) => droppedAt(report, path);

function droppedAt(root: Shape, path: Path): readonly string[] {
  const fields = path.filter((token) => typeof token === 'string');
  const shape = fields.reduce<Shape>((at, field) => ownProperty(at.into ?? {}, field) ?? {}, root);
  return [...(shape.drop ?? [])];
}

function keptOut(root: unknown, shape: Shape, membersMax = Number.POSITIVE_INFINITY): KeptOut {
  const walk = new Walk(membersMax);
  return { value: walk.value(root, shape, ''), ignored: [...walk.ignored] };
}

class Walk {
  readonly ignored = new Set<string>();
  #membersLeft: number;

  constructor(membersMax: number) {
    this.#membersLeft = membersMax;
  }

  /** Without what is kept out below this path. */
  value(value: unknown, at: Shape, path: string): unknown {
    if (Array.isArray(value))
      return value.map((element) => (element === null ? (at.nullIs ?? null) : this.value(element, at, `${path}[]`)));
    return typeof value === 'object' && value !== null ? this.#object(value, at, path) : value;
  }

  #object(object: object, at: Shape, path: string): unknown {
    const kept: [string, unknown][] = [];
    const pathOf = (field: string) => (path === '' ? field : `${path}.${field}`);
    for (const field of Object.keys(object)) {
      const member = (object as { readonly [name: string]: unknown })[field];
      if (isKeptOut(field, at)) {
        if (member !== null) this.ignored.add(pathOf(field));
        continue;
      }
      this.#membersLeft -= 1;
      if (this.#membersLeft < -1) break;
      const rest = at.without ? withoutElements(object, { field, member }, at) : member;
      if (rest !== member) this.ignored.add(`${pathOf(field)}[]`);
      // A plain field costs nothing more: thousands are walked in one turn.
      const isPlain = typeof rest !== 'object' || rest === null;
      kept.push([field, isPlain ? orZero(rest, at) : this.value(rest, shapeIn(at, field), pathOf(field))]);
    }
    return Object.fromEntries(kept);
  }
}

const shapeIn = ({ into = {} }: Shape, field: string): Shape => ownProperty(into, field) ?? {};

/** A null counts as absent but its name still counts: an unknown field is refused even if it is null. */
const orZero = (value: unknown, { nullIs }: Shape): unknown => (value === null ? nullIs : value);

type Member = { readonly field: string; readonly member: unknown };

/** The member as it is, or a list of what is left; `undefined`: nothing is. */
function withoutElements(object: object, { field, member }: Member, { without = {} }: Shape): unknown {
  const removed = ownProperty(without, field)?.(object);
  if (!removed || removed.size === 0 || !Array.isArray(member)) return member;
  const rest = member.filter((element) => !removed.has(element));
  return rest.length > 0 ? rest : undefined;
}

const isKeptOut = (field: string, { drop, only }: Shape): boolean =>
  Boolean(drop?.has(field)) || (only !== undefined && !only.has(field));

const warningCharsMax = 4_000;

/** The text of the `Warning` header for removed fields; undefined: there are none. */
export function keptOutWarning(ignored: readonly string[]): string | undefined {
  // Names under `only` come from the client: those that a header cannot carry are left out.
  const printable = ignored.filter((path) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(path));
  if (printable.length === 0) return undefined;
  const text = printable.join(', ').slice(0, warningCharsMax);
  return `not stored, does not concern probing: ${text}`;
}

// The variables of a container that no exec probe names. Many are passwords, and only the commands of exec probes have
// their variables expanded.

type Members = { readonly [field: string]: unknown };

const probeFields = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;

/**
 * The variables of a container's `env`, before its shape is known. None while one is malformed, so that its error is
 * named.
 */
export function unusedVariables(container: object): ReadonlySet<unknown> {
  const { env } = container as Members;
  if (!Array.isArray(env) || !env.every(isVariable)) return new Set();
  const used = new Set(commandWords(container as Members).flatMap(variablesIn));
  return new Set(env.filter(({ name }) => !used.has(name)));
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

const fields = ['name', 'value', 'valueFrom'];

function isVariable(entry: unknown): entry is { readonly name: string } {
  const { name, value } = membersOf(entry);
  const isText = value === undefined || value === null || typeof value === 'string';
  const isKnown = Object.keys(membersOf(entry)).every((field) => fields.includes(field));
  return typeof name === 'string' && isEnvName(name) && isText && isKnown;
}

function commandWords(container: Members): readonly string[] {
  return probeFields.flatMap((field) => {
    const { command } = membersOf(membersOf(container[field]).exec);
    return Array.isArray(command) ? command.filter((word) => typeof word === 'string') : [];
  });
}
