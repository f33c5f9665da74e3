/**
 * A typed client of the API. The types are those of the API's own schemas. An answer is held against what the client
 * needs and is otherwise passed on as it is, so that a newer server's fields are shown, too.
 */
import * as z from 'zod';
import type { AppliedManifest } from '../../shared/api/apply-manifests.ts';
import type { Manifest } from '../../shared/api/manifest-schema.ts';
import type { cleanedSchema } from '../../shared/api/routes/desired.ts';
import type { EventView } from '../../shared/api/routes/events.ts';
import type { newTargetSchema } from '../../shared/api/routes/target-create.ts';
import type { reportSchema } from '../../shared/api/status-report.ts';
import type { TargetView } from '../../shared/api/target-schema.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import {
  appliedShape,
  cleanedShape,
  eventsShape,
  healthShape,
  listShape,
  openapiShape,
  probedShape,
  targetShape,
} from './answer-shapes.ts';
import type { Signer } from './aws-signer.ts';
import { type ConnectionOptions, connectionsTo } from './connections.ts';
import { type Asked, askJson, foreign, type JsonAnswer, type Method, type RequestDeps } from './requests.ts';
import { type WatchedEvent, type WatchQuery, watched } from './watching.ts';

export type ClientOptions = ConnectionOptions & {
  readonly token?: string;
  /** For an API on AWS, in place of a token. */
  readonly signer?: Signer;
  readonly clock: Clock;
  readonly random: Random;
  /** Ends every request and every watch. */
  readonly stop?: AbortSignal;
};

export type TargetQuery = { readonly namespace?: string; readonly labelSelector?: string };

export type NamedTarget = { readonly namespace: string; readonly name: string };

export type RequestedProbes = {
  readonly probes: readonly Pick<TargetView['status']['probes'][number], 'container' | 'probeType'>[];
  /** By the clock of the server; NaN if it does not say. */
  readonly requestedAtMs: number;
};

export type ServerVersion = { readonly api: string; readonly status: string };

/** `answeredAtMs`: by the clock of the server, cut to a second; NaN if it does not say. */
export type ServerHealth = { readonly status: string; readonly answeredAtMs: number };

/** All of them throw ClientError. */
export type ApiClient = {
  /** All matching targets, in no order; the client never holds more than two pages. */
  targets(query?: TargetQuery): AsyncGenerator<TargetView>;
  /** undefined: there is none. */
  target(named: NamedTarget): Promise<TargetView | undefined>;
  /** Registers a new one, of the name in its metadata or of one that begins with `generateName`. Never repeated. */
  create(namespace: string, manifest: NewTargetManifest, writing?: Writing): Promise<TargetView>;
  /** Registers it, or replaces its spec, labels and annotations. */
  put(named: NamedTarget, manifest: TargetManifest, writing?: Replacing): Promise<TargetView>;
  /** By a JSON merge patch (RFC 7396). Never repeated. undefined: there is no such target. */
  patch(named: NamedTarget, patch: TargetPatch, changing?: Changing): Promise<TargetView | undefined>;
  /** The last `limit`, oldest first; undefined: there is no such target. */
  events(named: NamedTarget, limit: number): Promise<readonly EventView[] | undefined>;
  /** Whether there was one. */
  remove(named: NamedTarget, removal?: Removal): Promise<boolean>;
  /** undefined: there is no such target. */
  probe(named: NamedTarget): Promise<RequestedProbes | undefined>;
  /** Reports that a container was restarted. The target as it is then; undefined: there is none. */
  restarted(named: NamedTarget, report?: RestartReport): Promise<TargetView | undefined>;
  /**
   * Reports the state of the containers of a target with the lifecycle `reported`. The target as it is then; undefined:
   * there is none.
   */
  report(named: NamedTarget, report: StatusReport, writing?: Writing): Promise<TargetView | undefined>;
  /** Begins the termination of all other targets of the namespace. */
  keepOnly(desired: DesiredTargets): Promise<CleanedUp>;
  /** Stores each of at most 100 manifests; all are in the namespace. The answers are in their order. */
  apply(batch: ManifestBatch): Promise<readonly AppliedManifest[]>;
  version(): Promise<ServerVersion>;
  /** Needs no token and no signature. */
  health(): Promise<ServerHealth>;
  /** In Prometheus' text format. A deployed API has none. */
  metrics(): Promise<string>;
  watch(query: WatchQuery): AsyncGenerator<WatchedEvent>;
  close(): Promise<void>;
};

export type TargetManifest = Manifest;
/** A manifest with a name, or with what a generated name begins with. */
export type NewTargetManifest = z.infer<typeof newTargetSchema>;
export type TargetPatch = { readonly [field: string]: unknown };
export type StatusReport = z.input<typeof reportSchema>;
/** Names of targets. */
export type CleanedUp = Omit<z.infer<typeof cleanedSchema>, 'continue'>;
export type DesiredTargets = { readonly namespace: string; readonly names: readonly string[] } & Writing;

export type Writing = { readonly dryRun?: boolean };
/** `resourceVersion`: with another one, the target stays as it is and the error has the status 412. */
export type Changing = Writing & { readonly resourceVersion?: string };
/** `mustBeNew`: if there is one, it stays as it is and the error has the status 412. */
export type Replacing = Changing & { readonly mustBeNew?: boolean };
export type Removal = Changing;

/** `containerID`: of the container that was restarted, so that a repeated report counts once. */
export type RestartReport = {
  /** May be absent where the target has one container. */
  readonly container?: string;
  readonly containerID?: string;
};

export type ManifestBatch = {
  readonly namespace: string;
  readonly manifests: readonly unknown[];
  readonly dryRun: boolean;
};

const pageTargetsMax = '500';

/** Opens no connection before the first request. */
export function apiClient(options: ClientOptions): ApiClient {
  const connections = connectionsTo(options);
  const deps: RequestDeps = { ...options, connections };
  const read: Asking['read'] = async <Value>(shape: z.ZodType, asked: Asked): Promise<(Value & Dated) | undefined> => {
    const answer = await askJson(deps, { ...asked, accepts: [404] });
    return answer.status === 404 ? missing(deps, answer) : shaped<Value>(shape, answer, deps);
  };
  const health = async (): Promise<ServerHealth> => {
    const answer = await askJson(deps, { path: '/healthz', accepts: [503], isOpen: true });
    const { status } = shaped<{ readonly status: string }>(healthShape, answer, deps);
    return { status, answeredAtMs: Date.parse(answer.date) };
  };
  const need: Asking['need'] = async <Value>(shape: z.ZodType, asked: Asked): Promise<Value & Dated> =>
    shaped<Value>(shape, await askJson(deps, asked), deps);

  return {
    ...writers({ read, need }),
    targets: (query = {}) => pages((asked) => need<TargetPage>(listShape, asked), query),
    target: async (named) => read<TargetView>(targetShape, { path: targetPathOf(named) }),
    events: async (named, limit) =>
      (await read<EventPage>(eventsShape, { path: `${targetPathOf(named)}/events`, query: { limit: `${limit}` } }))
        ?.items,
    async probe(named) {
      const asked: Asked = { method: 'POST', path: `${targetPathOf(named)}/probe` };
      const answer = await read<Pick<RequestedProbes, 'probes'>>(probedShape, asked);
      return answer && { probes: answer.probes, requestedAtMs: Date.parse(answer[answerDate]) };
    },
    restarted: (named, report = {}) =>
      read<TargetView>(targetShape, { method: 'POST', path: `${targetPathOf(named)}/restarted`, body: report }),
    keepOnly: (desired) => keptOnly((asked) => need(cleanedShape, asked), desired),
    async apply({ namespace, manifests, dryRun }) {
      const { items } = await need<{ readonly items: readonly AppliedManifest[] }>(appliedShape, {
        method: 'PUT',
        path: targetsPathOf(namespace),
        ...written({ dryRun }),
        body: { apiVersion: 'v1', kind: 'List', items: manifests },
      });
      if (items.length !== manifests.length)
        throw foreign(options.url, `has ${items.length} of ${manifests.length} items`);
      return items;
    },
    async version() {
      const { info } = await need<z.infer<typeof openapiShape>>(openapiShape, { path: '/openapi.json' });
      return { api: info.version, status: (await health()).status };
    },
    health,
    metrics: async () => (await askJson(deps, { path: '/metrics', isText: true })).body as string,
    watch: (query) => watched(deps, query),
    close: () => connections.destroy(),
  };
}

type Asking = {
  /** The status 404 is undefined: what is asked for does not exist. */
  readonly read: <Value>(shape: z.ZodType, asked: Asked) => Promise<(Value & Dated) | undefined>;
  readonly need: <Value>(shape: z.ZodType, asked: Asked) => Promise<Value & Dated>;
};

/** What changes one target, or reports on it. */
function writers({ read, need }: Asking): Pick<ApiClient, 'create' | 'put' | 'patch' | 'report' | 'remove'> {
  const onTarget = (
    method: Method,
    named: NamedTarget,
    { body, ...writing }: Replacing & { readonly body?: unknown },
  ) => ({
    method,
    path: targetPathOf(named),
    ...written(writing),
    ...(body !== undefined && { body }),
  });
  return {
    create: (namespace, body, writing) =>
      need<TargetView>(targetShape, { method: 'POST', path: targetsPathOf(namespace), ...written(writing), body }),
    put: (named, body, replacing) => need<TargetView>(targetShape, onTarget('PUT', named, { ...replacing, body })),
    patch: (named, body, changing) => read<TargetView>(targetShape, onTarget('PATCH', named, { ...changing, body })),
    report: (named, body, writing) => {
      const { path, ...asked } = onTarget('PUT', named, { ...writing, body });
      return read<TargetView>(targetShape, { path: `${path}/status`, ...asked });
    },
    remove: async (named, removal = {}) => (await read(targetShape, onTarget('DELETE', named, removal))) !== undefined,
  };
}

/** When the server answered, by its clock. Not a field, so that it is not printed. */
const answerDate = Symbol('date');
type Dated = { readonly [answerDate]: string };

type TargetPage = { readonly metadata: { readonly continue?: string }; readonly items: readonly TargetView[] };
type EventPage = { readonly items: readonly EventView[] };

/** The query and the headers of a request that writes. */
function written({ dryRun = false, resourceVersion, mustBeNew = false }: Replacing = {}) {
  return {
    query: dryRun ? { dryRun: 'true' } : {},
    headers: {
      ...(resourceVersion !== undefined && { 'if-match': `"${resourceVersion}"` }),
      ...(mustBeNew && { 'if-none-match': '*' }),
    },
  };
}

const targetsPathOf = (namespace: string): string => `/v1/namespaces/${encodeURIComponent(namespace)}/targets`;
const targetPathOf = ({ namespace, name }: NamedTarget): string =>
  `${targetsPathOf(namespace)}/${encodeURIComponent(name)}`;

/** Only the API's own 404 says that there is no such target: one of another server has no problem document. */
function missing({ url }: RequestDeps, { body }: JsonAnswer): undefined {
  if (!z.looseObject({ type: z.string().startsWith('urn:probelet:') }).safeParse(body).success)
    throw foreign(url, 'has the status 404 without a problem');
}

function shaped<Value>(shape: z.ZodType, { body, date }: JsonAnswer, { url }: RequestDeps): Value & Dated {
  const read = shape.safeParse(body);
  if (!read.success) {
    const [issue] = read.error.issues;
    throw foreign(url, `lacks ${issue?.path.join('.') ?? 'its fields'}`);
  }
  return { ...(body as Value), [answerDate]: date };
}

type AskPage = (asked: Asked) => Promise<TargetPage>;

/** Asks for the next page before one is handed over, so that the server works meanwhile. */
async function* pages(ask: AskPage, { namespace, labelSelector }: TargetQuery): AsyncGenerator<TargetView> {
  const path = namespace === undefined ? '/v1/targets' : targetsPathOf(namespace);
  const from = (token?: string) => ask({ path, query: { limit: pageTargetsMax, labelSelector, continue: token } });
  let page = from();
  for (;;) {
    const { items, metadata } = await page;
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

type AskCleanUp = (asked: Asked) => Promise<z.infer<typeof cleanedShape>>;

/** The API does as much as it can in 20 s and names where to go on. Bounded: each request makes progress. */
async function keptOnly(ask: AskCleanUp, { namespace, names: wanted, dryRun }: DesiredTargets): Promise<CleanedUp> {
  const done: CleanedUp = { kept: [], removed: [], terminating: [] };
  const { query, headers } = written({ ...(dryRun !== undefined && { dryRun }) });
  let token: string | undefined;
  do {
    const asked: Asked = {
      method: 'PUT',
      path: `/v1/namespaces/${encodeURIComponent(namespace)}/desired`,
      query: { ...query, continue: token },
      headers,
      body: { names: wanted },
    };
    const part = await ask(asked);
    for (const list of ['kept', 'removed', 'terminating'] as const) done[list].push(...part[list]);
    token = part.continue;
  } while (token !== undefined);
  return done;
}
