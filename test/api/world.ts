import { type ApiApp, apiApp } from '../../shared/api/app.ts';
import type { ApiDeps } from '../../shared/api/deps.ts';
import type { EventEnvelope } from '../../shared/bus/envelope.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import type { Poison } from '../../shared/store/items.ts';
import { prefixEnd, targetAddress } from '../../shared/store/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { assertDocumented, type OpenApi } from './documented.ts';

export const startMs = Date.UTC(2026, 0, 1, 12);

export type RequestOptions = {
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is; anything else as JSON. */
  readonly body?: unknown;
};

/** The API over a store in memory, a bus in process and a clock that stands still until it is moved. */
export function apiWorld(overrides: Partial<ApiDeps> & { readonly wrapStore?: (store: Store) => Store } = {}) {
  const sqlite = sqliteStore({ path: ':memory:' });
  let nowMs = startMs;
  const clock = { ...immediateClock(), nowMs: () => nowMs };
  const log = recordingLog();
  const bus = inProcessBus({ clock, random: systemRandom, log });
  const published: EventEnvelope[] = [];
  bus.subscribe({ source: ['probelet'] }, (event) => void published.push(event));
  const poison: Poison[] = [];
  const { wrapStore, ...rest } = overrides;
  const store = wrapStore ? wrapStore(sqlite) : sqlite;
  const app = apiApp({
    store,
    bus,
    clock,
    random: systemRandom,
    log,
    health: () => ({ ok: true, quarantined: poison }),
    onPoison: (each) => void poison.push(each),
    ...rest,
  });

  const document = documentOf(app);

  /** Also holds every answer against the OpenAPI document. */
  const request = async (
    method: string,
    path: string,
    { headers = {}, body }: RequestOptions = {},
  ): Promise<Response> => {
    const isJson = body !== undefined && typeof body !== 'string';
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const sent = new Request(`http://probelet.test${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': type }), ...headers },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    });
    const response = await app.fetch(sent);
    assertDocumented(await document, sent, response);
    return response;
  };
  /** All items of one target. */
  const items = (name: string, namespace = 'default'): Promise<readonly Item[]> => {
    const { pk, prefix } = targetAddress(namespace, name);
    return sqlite.query({ pk, from: prefix, to: prefix + prefixEnd });
  };
  const everything = async (): Promise<number> => {
    const buckets = Array.from({ length: 256 }, (_, index) => `B#${index.toString(16).padStart(2, '0')}`);
    const found = await Promise.all([...buckets, 'CHANGES'].map((pk) => sqlite.query({ pk })));
    return found.flat().length;
  };
  return {
    app,
    request,
    items,
    everything,
    store: sqlite,
    bus,
    published,
    poison,
    log,
    clock,
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

async function documentOf(app: ApiApp): Promise<OpenApi> {
  const token = new Headers({ authorization: `Bearer ${testToken}` });
  const response = await app.fetch(new Request('http://probelet.test/openapi.json', { headers: token }));
  return response.json() as Promise<OpenApi>;
}

/** What a world with a token has. */
export const testToken = 'a-token-for-tests';

export type World = ReturnType<typeof apiWorld>;

export const targetPath = (name: string, namespace = 'default') => `/v1/namespaces/${namespace}/targets/${name}`;

/** A small manifest with one readiness probe. */
export const manifest = (host = '127.0.0.1') => ({
  spec: { host, readinessProbe: { httpGet: { path: '/ready', port: 8080 } } },
});
