/**
 * Compose files. Each service becomes a target. Its probes are those of its labels, such as `probelet.readinessProbe`;
 * without such labels its healthcheck becomes a readiness probe, if a handler asks the same from outside the container.
 */
import { nearest } from '../../lib/nearest.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { localNames } from '../command/handler.ts';
import { differencesText } from '../command/reading.ts';
import {
  type Drafts,
  type Format,
  type FormatOptions,
  type Mistake,
  merged,
  noDrafts,
  type Path,
  type Remark,
  type RemarkKind,
  type SourceDocument,
  targetTypeMeta,
} from '../manifest.ts';
import { targetName } from '../names.ts';
import { dialledPorts, withPorts } from '../pod-probes.ts';
import { parseProbe } from '../short-form.ts';
import { isMembers, listOf, type Members, membersOf, textOf, valueAt } from '../values.ts';
import { healthcheckOf, timingOf } from './healthcheck.ts';
import { portOfTool } from './port-of-tool.ts';
import { publicationRemark, publishedPort } from './ports.ts';
import { hasVariable, truthValue, unescaped, wholeNumber } from './values.ts';

export const compose: Format = {
  name: 'compose',
  looks: 'a Compose file (services)',
  recognises: (document) => {
    const { kind, services } = membersOf(document);
    return kind === undefined && isMembers(services);
  },
  draft: (documents, options) =>
    merged(
      documents.flatMap((document) => [
        topLevel(document),
        ...Object.entries(membersOf(membersOf(document.value).services)).map(([name, value]) =>
          serviceDrafts({ document, name, service: membersOf(value), path: ['services', name] }, options),
        ),
      ]),
    ),
};

function topLevel(document: SourceDocument): Drafts {
  const { include } = membersOf(document.value);
  if (include === undefined) return noDrafts;
  const reason = 'names other files, which are not read: docker compose config puts them in';
  return { ...noDrafts, remarks: [{ document, path: ['include'], kind: 'leftOut', what: 'include', reason }] };
}

type Service = {
  readonly document: SourceDocument;
  readonly name: string;
  readonly service: Members;
  readonly path: Path;
};

const remarkOf = ({ document, name, path }: Service, kind: RemarkKind, reason: string, at: Path = []): Remark => ({
  document,
  path: [...path, ...at],
  kind,
  what: `service ${name}`,
  reason,
});

function serviceDrafts(service: Service, options: FormatOptions): Drafts {
  const labels = labelsOf(service);
  const counted = copiesOf(service.service);
  if (counted.kind === 'wrong') {
    const { document, path } = service;
    return { ...noDrafts, mistakes: [{ document, path: [...path, ...counted.at], detail: counted.detail }] };
  }
  if (counted.copies === 0)
    return {
      ...noDrafts,
      remarks: [remarkOf(service, 'note', 'is scaled to 0: there is nothing to probe', counted.at)],
    };
  const outside = outsideOf(labels, options);
  const probes = labels.some(({ key }) => isProbeLabel(key))
    ? labelledProbes(service, labels)
    : checkedProbes(service, outside);
  const mistakes = [...labels.flatMap((label) => labelMistakes(service, label)), ...probes.mistakes];
  if (mistakes.length > 0 || Object.keys(probes.probes).length === 0)
    return { drafts: [], remarks: probes.remarks, mistakes };
  return draftOf(service, labels, probes, outside);
}

type Label = { readonly key: string; readonly value: string; readonly at: Path };

const prefix = 'probelet.';
const probeLabels = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;
const knownLabels = [...probeLabels, 'host'].map((name) => `${prefix}${name}`);

const isProbeLabel = (key: string): boolean => probeLabels.some((name) => key === `${prefix}${name}`);

/** The labels of probelet. Compose writes labels as an object, or as a list of `key=value`. */
function labelsOf({ service: { labels } }: Service): readonly Label[] {
  const all = Array.isArray(labels)
    ? labels.map(String).map((text, index): Label => {
        const [key = ''] = text.split('=');
        return { key, value: text.slice(key.length + 1), at: ['labels', index] };
      })
    : Object.entries(membersOf(labels)).map(
        ([key, value]): Label => ({ key, value: String(value), at: ['labels', key] }),
      );
  return all.filter(({ key }) => key.startsWith(prefix));
}

const hostLabel = (labels: readonly Label[]): Label | undefined => labels.find(({ key }) => key === `${prefix}host`);

/** The address of a service for a prober outside its networks. */
const outsideOf = (labels: readonly Label[], { host }: FormatOptions): string | undefined =>
  hostLabel(labels)?.value ?? host;

function labelMistakes({ document, path }: Service, { key, value, at }: Label): readonly Mistake[] {
  const mistake = (detail: string): readonly Mistake[] => [{ document, path: [...path, ...at], detail }];
  if (!knownLabels.includes(key)) {
    const meant = nearest(key, knownLabels);
    return mistake(`unknown label ${key}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`);
  }
  if (hasVariable(value)) return mistake(`has a variable: docker compose config puts its value in`);
  const parsed = isProbeLabel(key) ? parseProbe(unescaped(value)) : undefined;
  return parsed?.kind === 'malformed' ? mistake(parsed.detail) : [];
}

type Probes = {
  readonly probes: Members;
  /** Where each probe stands, from the service. */
  readonly places: { readonly [field: string]: Path };
  readonly remarks: readonly Remark[];
  readonly mistakes: readonly Mistake[];
};

const noProbes: Probes = { probes: {}, places: {}, remarks: [], mistakes: [] };

function labelledProbes(service: Service, labels: readonly Label[]): Probes {
  const own = labels.filter(({ key }) => isProbeLabel(key));
  const parsed = own.flatMap(({ key, value, at }) => {
    const probe = parseProbe(unescaped(value));
    return probe.kind === 'probe' ? [{ field: key.slice(prefix.length), probe: probe.probe, at }] : [];
  });
  const reason = 'has labels of probelet, which take the place of its healthcheck';
  const { healthcheck } = service.service;
  return {
    ...noProbes,
    probes: Object.fromEntries(parsed.map(({ field, probe }) => [field, probe])),
    places: Object.fromEntries(parsed.map(({ field, at }) => [field, at])),
    remarks: healthcheck === undefined ? [] : [remarkOf(service, 'note', reason, ['healthcheck'])],
  };
}

const labelMend = `the label ${prefix}readinessProbe gives it a probe`;

/** The healthcheck as a readiness probe: it restarts nothing by itself, and neither does that. */
function checkedProbes(service: Service, outside: string | undefined): Probes {
  const { document, path, name, service: fields } = service;
  const at: Path = ['healthcheck'];
  const leftOut = (reason: string): Probes => ({
    ...noProbes,
    remarks: [remarkOf(service, 'leftOut', reason, at)],
  });
  const wrong = (field: string, detail: string): Probes => ({
    ...noProbes,
    mistakes: [{ document, path: [...path, ...at, field], detail }],
  });
  const healthcheck = membersOf(fields.healthcheck);
  if (truthValue(healthcheck.disable).kind === 'wrong') return wrong('disable', 'must be true or false');
  const found = healthcheckOf(fields.healthcheck, [...localNames, name]);
  if (found.kind === 'none') return leftOut(`has neither a label of probelet nor a healthcheck: ${labelMend}`);
  if (found.kind === 'unknown') return leftOut(`${found.reason}: ${labelMend}`);
  if (hasVariable(JSON.stringify(fields.healthcheck)))
    return leftOut('has a variable in its healthcheck: docker compose config puts its value in');
  const timing = timingOf(healthcheck);
  if (timing.kind === 'wrong') return wrong(timing.field, timing.detail);
  const probe = (handler: Members, reason: string): Probes => ({
    ...noProbes,
    probes: { readinessProbe: { ...handler, ...timing.numbers } },
    places: { readinessProbe: at },
    remarks: [
      remarkOf(service, 'approximated', reason, at),
      ...timing.approximated.map((cut) => remarkOf(service, 'approximated', cut.reason, [...at, cut.field])),
      ...startRemarks(service),
    ],
  });
  if (found.kind === 'asks')
    return probe(
      found.handler,
      `has a healthcheck, which is asked from outside its container${differencesText(found.differences)}`,
    );
  const container = textOf(fields.container_name);
  const port = container === undefined ? portOfTool(found.command.map(unescaped), [...localNames, name]) : undefined;
  if (port !== undefined && isReached(fields.ports, port, outside))
    return probe(
      { tcpSocket: { port } },
      `runs its healthcheck in its container, and is only connected to, at ${port}`,
    );
  if (container === undefined) return leftOut(`runs its healthcheck in its container (${found.reason}): ${labelMend}`);
  const command = ['docker', 'exec', container, ...found.command.map(unescaped)];
  const reason = `runs its healthcheck by docker exec beside the prober, which has to allow that: ${found.reason}`;
  return probe({ exec: { command } }, reason);
}

/** Other containers reach every port; a prober outside reaches those that are published. */
const isReached = (ports: unknown, port: number, outside: string | undefined): boolean =>
  outside === undefined || publishedPort(ports, port) !== undefined;

function startRemarks(service: Service): readonly Remark[] {
  if (ownProperty(membersOf(service.service.healthcheck), 'start_period') === undefined) return [];
  const reason = 'has a start_period; a readiness probe needs none, as it is not ready before its first success';
  return [remarkOf(service, 'note', reason, ['healthcheck', 'start_period'])];
}

function draftOf(service: Service, labels: readonly Label[], probes: Probes, outside: string | undefined): Drafts {
  const { document, name, path, service: fields } = service;
  const label = hostLabel(labels);
  const container: Members = { name: targetName(name), ...probes.probes };
  const spec: Members = { host: outside ?? name, containers: [container] };
  const mistakes = dialledPorts(spec).flatMap(({ written, number }) =>
    number === undefined
      ? [{ document, path, detail: `port ${written} must be a number: ports of a service have no names` }]
      : [],
  );
  const probePlaces = Object.entries(probes.places).map(([field, at]) => ({
    pointer: `/spec/containers/0/${field}`,
    path: [...path, ...at],
  }));
  const draft = {
    manifest: {
      ...targetTypeMeta,
      metadata: { name: targetName(name) },
      spec: outside === undefined ? spec : published(spec, fields),
    },
    at: { document, path },
    naming: { text: name, what: `service ${name}`, path, isRecognisable: true },
    sources: [
      { pointer: '', path },
      { pointer: '/metadata/name', path },
      { pointer: '/spec/host', path: [...path, ...(label?.at ?? [])] },
      ...probePlaces,
    ],
  };
  const addressed = outside === undefined ? insideRemarks(service) : outsideRemarks(service, spec);
  const remarks = [...probes.remarks, ...addressed, ...copies(service)];
  return { drafts: mistakes.length === 0 ? [draft] : [], remarks, mistakes };
}

const published = (spec: Members, { ports }: Members): Members =>
  withPorts(spec, ({ written, number }) =>
    number === undefined ? written : (publishedPort(ports, number) ?? written),
  );

function insideRemarks(service: Service): readonly Remark[] {
  const reason = `is probed at ${service.name}, which only containers of its networks resolve: --host is for others`;
  return [remarkOf(service, 'approximated', reason)];
}

function outsideRemarks(service: Service, spec: Members): readonly Remark[] {
  const { ports } = service.service;
  const numbers = new Set(dialledPorts(spec).flatMap(({ number }) => number ?? []));
  return [...numbers].flatMap((port) => {
    const reason = publicationRemark(ports, port);
    return reason === undefined ? [] : [remarkOf(service, 'approximated', reason)];
  });
}

function copies(service: Service): readonly Remark[] {
  const { service: fields } = service;
  const approximated = (reason: string, at: Path) => remarkOf(service, 'approximated', reason, at);
  const counted = copiesOf(fields);
  const number = counted.kind === 'counted' ? counted.copies : 1;
  const replicas = number === 'variable' ? 'a variable number of' : number;
  return [
    ...(counted.kind === 'counted' && number !== 1
      ? [approximated(`has ${replicas} replicas: one target stands for all of them`, counted.at)]
      : []),
    ...(listOf(fields.profiles).length > 0
      ? [approximated('fails its probes while its profile is off', ['profiles'])]
      : []),
    ...(fields.extends === undefined
      ? []
      : [approximated('extends another, which is not read: docker compose config puts it in', ['extends'])]),
  ];
}

type Copies =
  /** `variable`: only `docker compose config` knows how many. */
  | { readonly kind: 'counted'; readonly copies: number | 'variable'; readonly at: Path }
  | { readonly kind: 'wrong'; readonly detail: string; readonly at: Path };

/** `scale` comes first: Compose refuses another number of `deploy.replicas` beside it. */
const places: readonly Path[] = [['scale'], ['deploy', 'replicas']];

function copiesOf(service: Members): Copies {
  for (const at of places) {
    const read = wholeNumber(valueAt(service, at));
    if (read.kind === 'absent') continue;
    if (read.kind === 'variable') return { kind: 'counted', copies: 'variable', at };
    if (read.kind === 'value' && read.value >= 0) return { kind: 'counted', copies: read.value, at };
    return { kind: 'wrong', detail: 'must be a whole number of at least 0', at };
  }
  return { kind: 'counted', copies: 1, at: [] };
}
