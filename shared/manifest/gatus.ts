/** Configurations of Gatus: each of `endpoints` becomes a target with a readiness probe, as far as a probe asks it. */
import { isSecretLiteral } from '../core/handler-http-get.ts';
import { periodSecondsMax } from '../core/limits.ts';
import { isLabelValue, isQualifiedName } from '../core/names.ts';
import { durationSeconds, wholeSeconds } from './duration.ts';
import { acceptsErrors, judge } from './gatus-conditions.ts';
import { alertOf, intervalSeconds, numbersOf, withHeaders } from './gatus-probe.ts';
import { type Probed, type UrlHandler, urlHandler } from './gatus-url.ts';
import {
  type Drafts,
  type Format,
  type Mistake,
  merged,
  noDrafts,
  type Path,
  type Remark,
  type RemarkKind,
  type SourceDocument,
  targetTypeMeta,
} from './manifest.ts';
import { targetName } from './names.ts';
import { given, isMembers, listOf, type Members, membersOf, textOf, valueAt } from './values.ts';

export const gatus: Format = {
  name: 'gatus',
  looks: 'a configuration of Gatus (endpoints)',
  recognises: (document) => {
    const { kind, endpoints } = membersOf(document);
    return kind === undefined && Array.isArray(endpoints);
  },
  draft: (documents) =>
    merged(
      documents.flatMap((document) => [
        { ...noDrafts, remarks: topLevel(document) },
        ...listOf(membersOf(document.value).endpoints).map((value, index) =>
          endpointDrafts({ document, value: membersOf(value), path: ['endpoints', index] }),
        ),
      ]),
    ),
};

const otherKeys: { readonly [key: string]: string } = {
  'external-endpoints': 'are not probed: their results are pushed',
  suites: 'are sequences of requests, which no probe makes',
  alerting: 'notifies, where probelet publishes events',
  maintenance: 'mutes alerts, and targets are probed all the same',
};

function topLevel(document: SourceDocument): readonly Remark[] {
  return Object.keys(membersOf(document.value))
    .filter((key) => key !== 'endpoints' && !key.startsWith('x-'))
    .map((key) => {
      const reason = Object.hasOwn(otherKeys, key) ? (otherKeys[key] ?? '') : 'does not concern probing';
      return { document, path: [key], kind: 'leftOut', what: key, reason };
    });
}

type Endpoint = { readonly document: SourceDocument; readonly value: Members; readonly path: Path };

const nameIn = ({ value, path }: Endpoint): string => textOf(value.name) ?? `${path.at(-1)}`;

const remarkOf = (
  endpoint: Endpoint,
  kind: RemarkKind,
  { reason, at = [], part }: { readonly reason: string; readonly at?: Path; readonly part?: string },
): Remark => ({
  document: endpoint.document,
  path: [...endpoint.path, ...at],
  kind,
  what: `endpoint ${nameIn(endpoint)}${part === undefined ? '' : `: ${part}:`}`,
  reason,
});

function endpointDrafts(endpoint: Endpoint): Drafts {
  const { document, path } = endpoint;
  const mistakes = mistakesOf(endpoint);
  if (mistakes.length > 0) return { ...noDrafts, mistakes };
  const url = urlHandler(textOf(endpoint.value.url) ?? '');
  const why = whyNot(endpoint, url);
  if (why) return { ...noDrafts, remarks: [remarkOf(endpoint, 'leftOut', why)] };
  if (url.kind === 'probed') return probedDrafts(endpoint, url);
  const detail = 'must be a URL with a scheme and a host, and a port that exists';
  return { ...noDrafts, mistakes: [{ document, path: [...path, 'url'], detail }] };
}

function mistakesOf({ document, value, path }: Endpoint): readonly Mistake[] {
  const mistake = (at: Path, detail: string): Mistake => ({ document, path: [...path, ...at], detail });
  const durations: readonly Path[] = [['interval'], ['client', 'timeout']];
  return [
    ...(textOf(value.name) === undefined ? [mistake(['name'], 'must be set')] : []),
    ...(textOf(value.url) === undefined ? [mistake(['url'], 'must be set')] : []),
    ...(listOf(value.conditions).length === 0 ? [mistake(['conditions'], 'must have at least one condition')] : []),
    ...durations
      .filter((at) => valueAt(value, at) !== undefined && durationSeconds(valueAt(value, at)) === undefined)
      .map((at) => mistake(at, 'must be a duration, such as 30s')),
  ];
}

type WhyNot = { readonly reason: string; readonly at?: Path };

/** Requests with these are not those of a probe. */
const clientFields: { readonly [field: string]: string } = {
  oauth2: 'fetches a token, which no probe does',
  'identity-aware-proxy': 'fetches a token, which no probe does',
  tls: 'has a client certificate, which no probe sends',
  tunnel: 'goes through a tunnel, which no probe does',
  'proxy-url': 'goes through a proxy, which no probe does',
};

function whyNot({ value }: Endpoint, url: UrlHandler): WhyNot | undefined {
  if (value.enabled === false) return { reason: 'is not enabled', at: ['enabled'] };
  if (isMembers(value.dns)) return { reason: 'asks a DNS server, for which there is no handler', at: ['dns'] };
  const client = Object.keys(clientFields).find((field) => membersOf(value.client)[field] !== undefined);
  if (client !== undefined) return { reason: clientFields[client] ?? '', at: ['client', client] };
  if (hasVariable(value.url) || hasVariable(JSON.stringify(value.headers ?? {})))
    return { reason: 'has a variable of the environment, whose value is not known', at: ['url'] };
  if (url.kind === 'not') return { reason: url.reason, at: ['url'] };
  return url.kind === 'probed' && url.by === 'httpGet' ? whyNoGet(value) : undefined;
}

function whyNoGet(value: Members): WhyNot | undefined {
  const method = textOf(value.method) ?? 'GET';
  if (method !== 'GET' && method !== 'HEAD')
    return { reason: `asks by ${method}; a probe asks by GET`, at: ['method'] };
  if (value.graphql === true || textOf(value.body) !== undefined)
    return { reason: 'sends a body, which no probe does', at: ['body'] };
  const secret = Object.entries(membersOf(value.headers)).find(([name, text]) =>
    isSecretLiteral({ name, value: String(text) }),
  );
  if (!secret) return undefined;
  const reason = `has a secret in the header ${secret[0]}; write a reference, such as env:PROBELET_SECRET_TOKEN`;
  return { reason, at: ['headers', secret[0]] };
}

/** Gatus expands `$NAME` and `${NAME}`; `$$` stands for a dollar. */
const hasVariable = (text: unknown): boolean => /\$[A-Za-z_{]/.test(String(text).replaceAll('$$', ''));

function probedDrafts(endpoint: Endpoint, url: Probed): Drafts {
  const { document, value, path } = endpoint;
  const judged = listOf(value.conditions).map((condition, index) => {
    const text = String(condition);
    return { text, at: ['conditions', index], ...judge(text, url.by) };
  });
  const opposed = judged.find(({ kind }) => kind === 'opposes');
  if (opposed?.kind === 'opposes')
    return {
      ...noDrafts,
      remarks: [remarkOf(endpoint, 'leftOut', { reason: opposed.reason, at: opposed.at, part: opposed.text })],
    };
  const remarks = judged.flatMap((each) =>
    each.kind === 'approximated' || each.kind === 'leftOut'
      ? [remarkOf(endpoint, each.kind, { reason: each.reason, at: each.at, part: each.text })]
      : [],
  );
  const bounds = judged.flatMap((each) => ('timeoutSeconds' in each ? (each.timeoutSeconds ?? []) : []));
  const probe = { ...withHeaders(url, value), ...numbersOf(membersOf(document.value), value, bounds) };
  const labelled = labelsOf(endpoint);
  const metadata = given({
    name: targetName(`${textOf(value.group) ?? ''} ${nameIn(endpoint)}`),
    labels: labelled.labels,
  });
  const draft = {
    manifest: {
      ...targetTypeMeta,
      metadata,
      spec: { host: url.host, containers: [{ name: 'main', readinessProbe: probe }] },
    },
    at: { document, path },
    sources: sourcesOf(path),
  };
  return {
    drafts: [draft],
    remarks: [...remarks, ...requestRemarks(endpoint, url), ...labelled.remarks, ...otherRemarks(endpoint)],
    mistakes: [],
  };
}

const probePointer = '/spec/containers/0/readinessProbe';

const sourcesOf = (path: Path) => [
  { pointer: '', path },
  { pointer: '/metadata/name', path: [...path, 'name'] },
  { pointer: '/spec/host', path: [...path, 'url'] },
  { pointer: probePointer, path: [...path, 'url'] },
  { pointer: `${probePointer}/httpGet/httpHeaders`, path: [...path, 'headers'] },
  { pointer: `${probePointer}/periodSeconds`, path: [...path, 'interval'] },
  { pointer: `${probePointer}/timeoutSeconds`, path: [...path, 'client', 'timeout'] },
  { pointer: `${probePointer}/failureThreshold`, path: [...path, 'alerts'] },
];

function requestRemarks(endpoint: Endpoint, url: Probed): readonly Remark[] {
  const { value } = endpoint;
  const approximated = (reason: string, at: Path) => [remarkOf(endpoint, 'approximated', { reason, at })];
  const interval = durationSeconds(value.interval) ?? intervalSeconds;
  const period = wholeSeconds(interval, periodSecondsMax);
  const isVerified = url.isHttps && valueAt(value, ['client', 'insecure']) !== true;
  return [
    ...(url.approximated === undefined ? [] : approximated(url.approximated, ['url'])),
    ...(value.method === 'HEAD' ? approximated('asks by HEAD, and is probed by GET', ['method']) : []),
    ...(isVerified ? approximated('has its certificate verified, which no probe does', ['url']) : []),
    ...(url.by === 'httpGet' && acceptsErrors(listOf(value.conditions).map(String))
      ? approximated('is content with some status of 400 or more, for which a probe fails', ['conditions'])
      : []),
    ...(period === interval
      ? []
      : approximated(`has an interval of ${interval} s, and is probed each ${period} s`, ['interval'])),
  ];
}

/** The group, and the labels of its metrics where they are labels here. */
function labelsOf(endpoint: Endpoint): { readonly labels: Members | undefined; readonly remarks: readonly Remark[] } {
  const { value } = endpoint;
  const group = targetName(textOf(value.group) ?? '');
  const extra = Object.entries(membersOf(value['extra-labels']));
  const isLabel = ([key, text]: readonly [string, unknown]) => isQualifiedName(key) && isLabelValue(String(text));
  const labels = Object.fromEntries([
    ...(group === '' ? [] : [['group', group]]),
    ...extra.filter(isLabel).map(([key, text]) => [key, String(text)]),
  ]);
  const remarks = extra
    .filter((each) => !isLabel(each))
    .map(([key]) =>
      remarkOf(endpoint, 'leftOut', { reason: `has the label ${key}, which is none here`, at: ['extra-labels', key] }),
    );
  return { labels: Object.keys(labels).length > 0 ? labels : undefined, remarks };
}

const otherFields: { readonly [field: string]: string } = {
  'maintenance-windows': 'mutes alerts, and the target is probed all the same',
  ui: 'does not concern probing',
  store: 'is for suites',
  'always-run': 'is for suites',
  ssh: 'logs in, which no probe does',
};

function otherRemarks(endpoint: Endpoint): readonly Remark[] {
  const { value } = endpoint;
  const resolver = valueAt(value, ['client', 'dns-resolver']);
  return [
    ...Object.entries(otherFields)
      .filter(([field]) => value[field] !== undefined)
      .map(([field, reason]) => remarkOf(endpoint, 'leftOut', { reason, at: [field], part: field })),
    ...(resolver === undefined
      ? []
      : [
          remarkOf(endpoint, 'leftOut', {
            reason: 'names are resolved by the DNS servers of the prober',
            at: ['client', 'dns-resolver'],
            part: 'dns-resolver',
          }),
        ]),
    ...(alertOf(value) === undefined
      ? []
      : [
          remarkOf(endpoint, 'approximated', {
            reason: 'thresholds are those of the probe; subscribers of its events notify',
            at: ['alerts'],
            part: 'alerts',
          }),
        ]),
  ];
}
