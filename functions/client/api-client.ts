/**
 * A typed client of the API. The types are those of the API's own schemas. An answer is held against what the client
 * needs and is otherwise passed on as it is, so that a newer server's fields are shown, too.
 */
import type { SortOrder } from '../../shared/api/lists/list-page.ts';
import type { EventView } from '../../shared/api/routes/events.ts';
import type { ProbeRequest } from '../../shared/api/routes/probe.ts';
import type { ProberView } from '../../shared/api/routes/prober.ts';
import type { TargetView } from '../../shared/api/schema/target-schema.ts';
import type { ReadyValue } from '../../shared/api/targets/target-viewer.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import {
  answerMark,
  dryRunOf,
  eventsShape,
  healthShape,
  listShape,
  type NamedTarget,
  need,
  openapiShape,
  pagesMax,
  probedShape,
  proberShape,
  read,
  shaped,
  targetPathOf,
  targetShape,
  targetsPathOf,
} from './answers.ts';
import type { Signer } from './aws-signer.ts';
import { ClientError } from './client-error.ts';
import { type ConnectionOptions, connectionsTo } from './connections.ts';
import {
  type ApiCall,
  askJson,
  askText,
  foreign,
  isApiProblem,
  isGatewayAnswer,
  parsedJson,
  type RequestDeps,
  shownUrl,
} from './requests.ts';
import { type WatchedEvent, type WatchQuery, watched } from './watching.ts';
import { type TargetWrites, targetWrites, type WriteOptions } from './writes.ts';

export type ClientOptions = ConnectionOptions & {
  readonly token?: string | undefined;
  /** For an API on AWS, in place of a token. */
  readonly signer?: Signer | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** The size of the answers to one list. Absent: no limit, because pages are handed over one by one. */
  readonly listCharactersMax?: number;
  /** Ends every request and every watch. */
  readonly stop?: AbortSignal | undefined;
};

/** All that is given has to match. The selectors are Kubernetes'. */
export type TargetQuery = {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  /** The condition Ready, as it is shown. */
  readonly ready?: ReadyValue | undefined;
  /**
   * Without it, in no order. The server reads all targets for each page of a sorted list. If there are too many to
   * sort, they are in no order, too.
   */
  readonly sortBy?: SortOrder;
};

/** Without `container` every container, without `probeType` every type. */
export type ProbeSelection = ProbeRequest & WriteOptions;

export type RequestedProbes = {
  readonly probes: readonly Pick<TargetView['status']['probes'][number], 'container' | 'probeType'>[];
  /** By the clock of the server; NaN if it does not say. */
  readonly requestedAtMs: number;
};

export type ServerVersion = { readonly api: string; readonly status: string };

/**
 * `answeredAtMs`: by the clock of the server, cut to a second; NaN if it does not say. `notMonitored`: how much of the
 * files of its configuration nothing probes; absent without a configuration.
 */
export type ServerHealth = {
  readonly status: string;
  readonly answeredAtMs: number;
  readonly notMonitored?: number;
};

/** OpenAPI 3.1. */
export type ApiDescription = {
  readonly info: { readonly title: 'probelet'; readonly version: string };
  readonly [field: string]: unknown;
};

/** `containerID`: of the container that was restarted, so that a repeated report counts once. */
export type RestartReport = WriteOptions & {
  /** May be absent where the target has one container. */
  readonly container?: string;
  readonly containerID?: string;
};

/** All of them throw ClientError. */
export type ApiClient = TargetWrites & {
  /** All matching targets; the client never holds more than two pages. */
  targets(query?: TargetQuery): AsyncGenerator<TargetView>;
  /** undefined: there is none. */
  target(named: NamedTarget): Promise<TargetView | undefined>;
  /** The last `limit`, oldest first; undefined: there is no such target. */
  events(named: NamedTarget, limit: number): Promise<readonly EventView[] | undefined>;
  /** Probes now. undefined: there is no such target. Never repeated. */
  probe(named: NamedTarget, selection?: ProbeSelection): Promise<RequestedProbes | undefined>;
  /** Reports that a container was restarted. The target as it is then; undefined: there is none. Never repeated. */
  restarted(named: NamedTarget, report?: RestartReport): Promise<TargetView | undefined>;
  version(): Promise<ServerVersion>;
  /** Needs no token and no signature. */
  health(): Promise<ServerHealth>;
  /** Its shards and releases; undefined: the server is older than this. */
  prober(): Promise<ProberView | undefined>;
  /** Metrics in Prometheus' text format; undefined: the API is not that of one process, and has none. */
  metrics(): Promise<string | undefined>;
  /** The OpenAPI document of the server. */
  openapi(): Promise<ApiDescription>;
  watch(query: WatchQuery): AsyncGenerator<WatchedEvent>;
  close(): Promise<void>;
};

const pageTargetsMax = '500';

/** Opens no connection before the first request. */
export function apiClient(options: ClientOptions): ApiClient {
  const connections = connectionsTo(options);
  const deps: ListDeps = { ...options, connections };
  const health = () => readHealth(deps);
  const openapi = () => need<ApiDescription>(deps, openapiShape, { path: '/openapi.json' });

  return {
    ...targetWrites(deps),
    targets: (query = {}) => pages(deps, query),
    target: (named) => read<TargetView>(deps, targetShape, { path: targetPathOf(named) }),
    events: async (named, limit) => {
      const call: ApiCall = { path: `${targetPathOf(named)}/events`, query: { limit: `${limit}` } };
      return (await read<EventPage>(deps, eventsShape, call))?.items.slice(-limit);
    },
    async probe(named, { dryRun = false, ...body } = {}) {
      const call: ApiCall = { method: 'POST', path: `${targetPathOf(named)}/probe`, query: dryRunOf(dryRun), body };
      const answer = await read<Pick<RequestedProbes, 'probes'>>(deps, probedShape, call);
      return answer && { probes: answer.probes, requestedAtMs: Date.parse(answer[answerMark].date) };
    },
    restarted(named, { dryRun = false, ...body } = {}) {
      const call: ApiCall = { method: 'POST', path: `${targetPathOf(named)}/restarted`, query: dryRunOf(dryRun), body };
      return read<TargetView>(deps, targetShape, call);
    },
    version: async () => ({ api: (await openapi()).info.version, status: (await health()).status }),
    health,
    prober: () => read<ProberView>(deps, proberShape, { path: '/v1/prober' }),
    metrics: () => readMetrics(deps),
    openapi,
    watch: (query) => watched(deps, query),
    close: () => connections.destroy(),
  };
}

type ListDeps = RequestDeps & Pick<ClientOptions, 'listCharactersMax'>;

type TargetPage = { readonly metadata: { readonly continue?: string }; readonly items: readonly TargetView[] };
type EventPage = { readonly items: readonly EventView[] };

async function readHealth(deps: RequestDeps): Promise<ServerHealth> {
  const answer = await askJson(deps, { path: '/healthz', accepts: [503], isOpen: true });
  const { status, notMonitored } = shaped<Pick<ServerHealth, 'status' | 'notMonitored'>>(deps, healthShape, answer);
  const found = notMonitored === undefined ? {} : { notMonitored };
  return { status, ...found, answeredAtMs: Date.parse(answer.date) };
}

async function readMetrics(deps: RequestDeps): Promise<string | undefined> {
  const headers = { accept: 'text/plain, application/problem+json' };
  const { status, type, text } = await askText(deps, { path: '/metrics', headers, accepts: [404] });
  const body = parsedJson(type, text);
  if (status === 404 && (isApiProblem(body) || isGatewayAnswer(body))) return undefined;
  if (status === 404 || !type.startsWith('text/plain')) throw foreign(deps.url, `is ${type}`);
  return text;
}

/** Asks for the next page before one is handed over, so that the server works meanwhile. */
async function* pages(deps: ListDeps, { namespace, ...query }: TargetQuery): AsyncGenerator<TargetView> {
  const path = namespace === undefined ? '/v1/targets' : targetsPathOf(namespace);
  const from = (token?: string) =>
    need<TargetPage>(deps, listShape, { path, query: { ...query, limit: pageTargetsMax, continue: token } });
  const { listCharactersMax = Number.POSITIVE_INFINITY } = deps;
  let page = from();
  for (let count = 1, characters = 0; ; count += 1) {
    const { items, metadata, [answerMark]: mark } = await page;
    characters += mark.characters;
    if (count > pagesMax || characters > listCharactersMax) throw tooLong(deps);
    const token = metadata.continue;
    if (token !== undefined) {
      page = from(token);
      // It is awaited below, unless the caller wants no more.
      page.catch(() => undefined);
    }
    yield* items;
    if (token === undefined) return;
  }
}

const tooLong = ({ url, listCharactersMax }: ListDeps): ClientError => {
  const size = listCharactersMax === undefined ? `${pagesMax} pages` : `${listCharactersMax} characters`;
  return new ClientError(
    'large',
    `${shownUrl(url)} has a list of more than ${size}: select fewer by namespace or labels`,
  );
};
