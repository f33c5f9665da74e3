/**
 * A typed client of the API. The types are those of the API's own schemas. An answer is held against what the client
 * needs and is otherwise passed on as it is, so that a newer server's fields are shown, too.
 */
import * as z from 'zod';
import type { AppliedManifest } from '../../shared/api/apply-manifests.ts';
import type { EventView } from '../../shared/api/routes/events.ts';
import type { TargetView } from '../../shared/api/target-schema.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Random } from '../../shared/lib/random.ts';
import type { Signer } from './aws-signer.ts';
import { type ConnectionOptions, connectionsTo } from './connections.ts';
import { type Asked, askJson, foreign, type JsonAnswer, type RequestDeps } from './requests.ts';
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
  /** The last `limit`, oldest first; undefined: there is no such target. */
  events(named: NamedTarget, limit: number): Promise<readonly EventView[] | undefined>;
  /** Whether there was one. */
  remove(named: NamedTarget, removal?: Removal): Promise<boolean>;
  /** undefined: there is no such target. */
  probe(named: NamedTarget): Promise<RequestedProbes | undefined>;
  /** Reports that a container was restarted. The target as it is then; undefined: there is none. */
  restarted(named: NamedTarget, report?: RestartReport): Promise<TargetView | undefined>;
  /** Stores each of at most 100 manifests; all are in the namespace. The answers are in their order. */
  apply(batch: ManifestBatch): Promise<readonly AppliedManifest[]>;
  version(): Promise<ServerVersion>;
  /** Needs no token and no signature. */
  health(): Promise<ServerHealth>;
  watch(query: WatchQuery): AsyncGenerator<WatchedEvent>;
  close(): Promise<void>;
};

/** `resourceVersion`: with another one, the target stays and the error has the status 412. */
export type Removal = { readonly dryRun?: boolean; readonly resourceVersion?: string };

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

const targetShape = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), name: z.string(), creationTimestamp: z.string() }),
  spec: z.looseObject({ containers: z.array(z.unknown()), initContainers: z.array(z.unknown()) }),
  status: z.looseObject({
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })),
    containerStatuses: z.array(z.looseObject({ name: z.string() })),
    initContainerStatuses: z.array(z.looseObject({ name: z.string() })),
    probes: z.array(z.looseObject({ container: z.string(), result: z.string(), since: z.string() })),
  }),
});
const listShape = z.looseObject({
  metadata: z.looseObject({ continue: z.string().optional() }),
  items: z.array(targetShape),
});
const eventsShape = z.looseObject({ items: z.array(z.looseObject({ time: z.string(), reason: z.string() })) });
const appliedShape = z.looseObject({ items: z.array(z.looseObject({ status: z.int() })) });
const probedShape = z.looseObject({ probes: z.array(z.looseObject({ container: z.string() })) });
const openapiShape = z.looseObject({ info: z.looseObject({ title: z.literal('probelet'), version: z.string() }) });
const healthShape = z.looseObject({ status: z.string() });

/** Opens no connection before the first request. */
export function apiClient(options: ClientOptions): ApiClient {
  const connections = connectionsTo(options);
  const deps: RequestDeps = { ...options, connections };
  /** The status 404 is undefined: what is asked for does not exist. */
  const read = async <Value>(shape: z.ZodType, asked: Asked): Promise<(Value & Dated) | undefined> => {
    const answer = await askJson(deps, { ...asked, accepts: [404] });
    return answer.status === 404 ? missing(deps, answer) : shaped<Value>(shape, answer, deps);
  };
  const health = async (): Promise<ServerHealth> => {
    const answer = await askJson(deps, { path: '/healthz', accepts: [503], isOpen: true });
    const { status } = shaped<{ readonly status: string }>(healthShape, answer, deps);
    return { status, answeredAtMs: Date.parse(answer.date) };
  };
  const need = async <Value>(shape: z.ZodType, asked: Asked): Promise<Value & Dated> =>
    shaped<Value>(shape, await askJson(deps, asked), deps);

  return {
    targets: (query = {}) => pages((asked) => need<TargetPage>(listShape, asked), query),
    target: async (named) => read<TargetView>(targetShape, { path: targetPathOf(named) }),
    events: async (named, limit) =>
      (await read<EventPage>(eventsShape, { path: `${targetPathOf(named)}/events`, query: { limit: `${limit}` } }))
        ?.items,
    remove: async (named, { dryRun = false, resourceVersion } = {}) => {
      const headers = resourceVersion === undefined ? {} : { 'if-match': `"${resourceVersion}"` };
      const asked: Asked = { method: 'DELETE', path: targetPathOf(named), query: dryRunOf(dryRun), headers };
      return (await read(targetShape, asked)) !== undefined;
    },
    async probe(named) {
      const asked: Asked = { method: 'POST', path: `${targetPathOf(named)}/probe` };
      const answer = await read<Pick<RequestedProbes, 'probes'>>(probedShape, asked);
      return answer && { probes: answer.probes, requestedAtMs: Date.parse(answer[answerDate]) };
    },
    restarted: (named, report = {}) =>
      read<TargetView>(targetShape, { method: 'POST', path: `${targetPathOf(named)}/restarted`, body: report }),
    async apply({ namespace, manifests, dryRun }) {
      const { items } = await need<{ readonly items: readonly AppliedManifest[] }>(appliedShape, {
        method: 'PUT',
        path: targetsPathOf(namespace),
        query: dryRunOf(dryRun),
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
    watch: (query) => watched(deps, query),
    close: () => connections.destroy(),
  };
}

/** When the server answered, by its clock. Not a field, so that it is not printed. */
const answerDate = Symbol('date');
type Dated = { readonly [answerDate]: string };

type TargetPage = { readonly metadata: { readonly continue?: string }; readonly items: readonly TargetView[] };
type EventPage = { readonly items: readonly EventView[] };

const dryRunOf = (dryRun: boolean) => (dryRun ? { dryRun: 'true' } : {});

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
