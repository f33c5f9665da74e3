/** Configurations of Gatus: each of `endpoints` becomes a target with a readiness probe, as far as a probe asks it. */
import { isSecretLiteral } from '../../core/spec/handler-http-get.ts';
import { isLabelValue, isQualifiedName } from '../../core/spec/names.ts';
import { ownProperty } from '../../lib/own-property.ts';
import { durationSeconds } from '../duration.ts';
import {
  type Drafts,
  type Format,
  type Mistake,
  merged,
  type Naming,
  noDrafts,
  type Path,
  type Remark,
  type RemarkKind,
  type SourceDocument,
  targetTypeMeta,
} from '../manifest.ts';
import { targetName } from '../names.ts';
import { given, isMembers, listOf, type Members, membersOf, textOf, valueAt } from '../values.ts';
import { type Divergence, type Endpoint, endpointAt, plainText, remarkOf, truthOf, variableIn } from './endpoint.ts';
import { ConditionJudge } from './judgement.ts';
import { logsIn, numbersOf, requestRemarks, withHeaders } from './probe.ts';
import { type ProbedUrl, type UrlHandler, urlHandler } from './url.ts';

export const gatus: Format = {
  name: 'gatus',
  looks: 'a configuration of Gatus (endpoints)',
  recognises: (document) => {
    const { kind, endpoints } = membersOf(document);
    return kind === undefined && Array.isArray(endpoints);
  },
  draft(documents) {
    const judge = new ConditionJudge();
    return merged(
      documents.flatMap((document) => [
        { ...noDrafts, remarks: topLevel(document) },
        ...listOf(membersOf(document.value).endpoints).map((value, index) =>
          endpointDrafts(endpointAt(document, value, ['endpoints', index]), judge),
        ),
      ]),
    );
  },
};

/** Lists of what Gatus watches and no probe asks. */
const otherLists: { readonly [key: string]: readonly [what: string, reason: string] } = {
  'external-endpoints': ['external endpoint', 'is not probed: its results are pushed'],
  suites: ['suite', 'is a sequence of requests, which no probe makes'],
};

const otherKeys: { readonly [key: string]: string } = {
  alerting: 'notifies, where probelet publishes events',
  maintenance: 'mutes alerts, and targets are probed all the same',
};

function topLevel(document: SourceDocument): readonly Remark[] {
  return Object.entries(membersOf(document.value))
    .filter(([key]) => key !== 'endpoints' && !key.startsWith('x-'))
    .flatMap(([key, value]): readonly Remark[] => {
      const list = ownProperty(otherLists, key);
      if (list) return otherItems(document, key, list);
      if (key === 'remote' && listOf(membersOf(value).instances).length > 0)
        return [{ document, path: [key], kind: 'leftOut', what: key, reason: 'has endpoints of other instances' }];
      const reason = ownProperty(otherKeys, key) ?? 'does not concern probing';
      return [{ document, path: [key], kind: 'note', what: key, reason }];
    });
}

const otherItems = (document: SourceDocument, key: string, [what, reason]: readonly [string, string]) =>
  listOf(membersOf(document.value)[key]).map(
    (item, index): Remark => ({
      document,
      path: [key, index],
      kind: 'leftOut',
      what: `${what} ${plainText(membersOf(item).name) ?? index}`,
      reason,
    }),
  );

function endpointDrafts(endpoint: Endpoint, judge: ConditionJudge): Drafts {
  const mistakes = mistakesOf(endpoint);
  if (mistakes.length > 0) return { ...noDrafts, mistakes };
  const url = urlHandler(textOf(endpoint.value.url) ?? '');
  const why = whyNot(endpoint, url);
  if (why) return { ...noDrafts, remarks: [remarkOf(endpoint, why.kind ?? 'leftOut', why)] };
  if (url.kind === 'probed') return probedDrafts(endpoint, url, judge);
  return wrong(endpoint, ['url'], 'must be a URL with a scheme and a host, and a port that exists');
}

const wrong = ({ document, path }: Endpoint, at: Path, detail: string): Drafts => ({
  ...noDrafts,
  mistakes: [{ document, path: [...path, ...at], detail }],
});

function mistakesOf(endpoint: Endpoint): readonly Mistake[] {
  const { document, value, path } = endpoint;
  const mistake = (at: Path, detail: string): Mistake => ({ document, path: [...path, ...at], detail });
  const durations: readonly Path[] = [['interval'], ['client', 'timeout']];
  const isWrong = (at: Path) => {
    const written = valueAt(value, at) ?? undefined;
    const isKnown = written === undefined || variableIn(endpoint, at) !== undefined;
    return !isKnown && durationSeconds(written) === undefined;
  };
  return [
    ...(plainText(value.name) === undefined ? [mistake(['name'], 'must be set')] : []),
    ...(textOf(value.url) === undefined ? [mistake(['url'], 'must be set')] : []),
    ...(listOf(value.conditions).length === 0 ? [mistake(['conditions'], 'must have at least one condition')] : []),
    ...durations.filter(isWrong).map((at) => mistake(at, 'must be a duration, such as 30s')),
  ];
}

type WhyNot = Divergence & { readonly kind?: RemarkKind };

/** Requests with these are not those of a probe. */
const clientFields: { readonly [field: string]: string } = {
  oauth2: 'fetches a token, which no probe does',
  'identity-aware-proxy': 'fetches a token, which no probe does',
  tls: 'has a client certificate, which no probe sends',
  tunnel: 'goes through a tunnel, which no probe does',
  'proxy-url': 'goes through a proxy, which no probe does',
};

/** Fields in which a variable decides what is asked, or of whom. */
const decisive: readonly Path[] = [['enabled'], ['name'], ['group'], ['url'], ['method'], ['headers'], ['conditions']];

function whyNot(endpoint: Endpoint, url: UrlHandler): WhyNot | undefined {
  const { value } = endpoint;
  if (truthOf(value.enabled) === false) return { reason: 'is not enabled', at: ['enabled'], kind: 'note' };
  if (isMembers(value.dns)) return { reason: 'asks a DNS server, for which there is no handler', at: ['dns'] };
  const client = Object.keys(clientFields).find((field) => (membersOf(value.client)[field] ?? undefined) !== undefined);
  if (client !== undefined) return { reason: clientFields[client] ?? '', at: ['client', client] };
  const variable = decisive.map((field) => variableIn(endpoint, field)).find((at) => at !== undefined);
  if (variable !== undefined)
    return { reason: 'has a variable of the environment, whose value is not known', at: variable };
  if (url.kind === 'not') return { reason: url.reason, at: ['url'] };
  return url.kind === 'probed' && url.by === 'httpGet' ? whyNoGet(value) : undefined;
}

function whyNoGet(value: Members): WhyNot | undefined {
  const method = textOf(value.method) ?? 'GET';
  if (method !== 'GET' && method !== 'HEAD')
    return { reason: `asks by ${method}; a probe asks by GET`, at: ['method'] };
  if (truthOf(value.graphql) === true || textOf(value.body) !== undefined)
    return { reason: 'sends a body, which no probe does', at: ['body'] };
  const secret = Object.entries(membersOf(value.headers)).find(([name, text]) =>
    isSecretLiteral({ name, value: String(text) }),
  );
  if (!secret) return undefined;
  const reason = `has a secret in the header ${secret[0]}; write a reference, such as env:PROBELET_SECRET_TOKEN`;
  return { reason, at: ['headers', secret[0]] };
}

const condition = 'must be two values around ==, !=, <, <=, > or >=, with a space on each side';

function probedDrafts(endpoint: Endpoint, url: ProbedUrl, judge: ConditionJudge): Drafts {
  const { value } = endpoint;
  const texts = listOf(value.conditions).map(String);
  const judged = judge.judge(texts, {
    by: url.by,
    ...(url.connection && { connection: url.connection }),
    hasBody: textOf(value.body) !== undefined,
    logsIn: logsIn(value),
  });
  if (judged.kind === 'wrong') return wrong(endpoint, ['conditions', judged.index], condition);
  const remarked = (kind: RemarkKind, { index, reason }: { readonly index?: number; readonly reason: string }) =>
    remarkOf(endpoint, kind, {
      reason,
      at: ['conditions', ...(index === undefined ? [] : [index])],
      ...(index !== undefined && { part: texts[index] ?? '' }),
    });
  if (judged.kind === 'opposes') return { ...noDrafts, remarks: [remarked('leftOut', judged)] };
  const { draft, remarks } = drafted(endpoint, url, judged.timeoutSeconds);
  const ofConditions = judged.approximated.map((each) => remarked('approximated', each));
  return { drafts: [draft], remarks: [...ofConditions, ...requestRemarks(endpoint, url), ...remarks], mistakes: [] };
}

function drafted(endpoint: Endpoint, url: ProbedUrl, bounds: readonly number[]) {
  const { document, value, path } = endpoint;
  const probe = { ...withHeaders(url, value), ...numbersOf(membersOf(document.value), value, bounds) };
  const { labels, remarks } = labelsOf(endpoint);
  const name = targetName(`${plainText(value.group) ?? ''} ${plainText(value.name) ?? ''}`);
  const draft = {
    manifest: {
      ...targetTypeMeta,
      metadata: given({ name, labels }),
      spec: { host: url.host, containers: [{ name: 'main', readinessProbe: probe }] },
    },
    at: { document, path },
    sources: sourcesOf(path),
    naming: namingOf(endpoint),
  };
  return { draft, remarks };
}

function namingOf(endpoint: Endpoint): Naming {
  const { group, name } = endpoint.value;
  const { what, path } = remarkOf(endpoint, 'note', { reason: '', at: ['name'] });
  const isRecognisable = /[a-z0-9]/i.test(String(name)) && !/\P{ASCII}/u.test(`${group ?? ''}${name}`);
  return { text: `${group ?? ''}/${name}`, what, path, isRecognisable };
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

/** The group, and the labels of its metrics where they are labels here. */
function labelsOf(endpoint: Endpoint): { readonly labels: Members | undefined; readonly remarks: readonly Remark[] } {
  const { value } = endpoint;
  const group = targetName(plainText(value.group) ?? '');
  const extra = Object.entries(membersOf(value['extra-labels']));
  const isLabel = ([key, text]: readonly [string, unknown]) => isQualifiedName(key) && isLabelValue(String(text));
  const labels = Object.fromEntries([
    ...(group === '' ? [] : [['group', group]]),
    ...extra.filter(isLabel).map(([key, text]) => [key, String(text)]),
  ]);
  const remarks = extra
    .filter((each) => !isLabel(each))
    .map(([key]) =>
      remarkOf(endpoint, 'note', { reason: `has the label ${key}, which is none here`, at: ['extra-labels', key] }),
    );
  return { labels: Object.keys(labels).length > 0 ? labels : undefined, remarks };
}
