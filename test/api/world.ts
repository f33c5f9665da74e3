import assert from 'node:assert/strict';
import { type ApiApp, apiApp } from '../../shared/api/app.ts';
import type { ApiDeps } from '../../shared/api/ports/deps.ts';
import type { EventEnvelope } from '../../shared/bus/bus.ts';
import { inProcessBus } from '../../shared/bus/in-process.ts';
import type { Json } from '../../shared/lib/json.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import type { Poison } from '../../shared/store/records/items.ts';
import { prefixEnd, targetAddress } from '../../shared/store/records/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Item, Key, Operation, Store } from '../../shared/store/store.ts';
import {
  type Answer,
  type AnswerBody,
  answerOf,
  apiRequest,
  type RequestHeaders,
  targetPath,
} from '../support/api-client.ts';
import { immediateClock } from '../support/immediate-clock.ts';
import { recordingLog } from '../support/recording-log.ts';
import { testsIn } from '../support/tests-in.ts';
import { assertDocumented, type OpenApi } from './documented.ts';

export const startMs = Date.UTC(2026, 0, 1, 12);

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
    body?: unknown,
    headers: RequestHeaders = {},
  ): Promise<Response> => {
    const sent = apiRequest(`http://probelet.test${path}`, method, body, headers);
    const response = await app.fetch(sent);
    assertDocumented(await document, sent, response);
    return response;
  };
  /** A request with this body, and what it is answered with. */
  const ask = async <Body = AnswerBody>(...asked: Parameters<typeof request>): Promise<Answer<Body>> =>
    answerOf(await request(...asked));
  /** As `ask`, and fails unless the answer has this status. */
  const expect = async <Body = AnswerBody>(status: number, ...asked: Parameters<typeof ask>): Promise<Answer<Body>> => {
    const answer = await ask<Body>(...asked);
    const [method, path, body] = asked;
    assert.equal(answer.status, status, `${method} ${path} ${JSON.stringify(body)?.slice(0, 500)}: ${answer.text}`);
    return answer;
  };
  const write = (operation: Operation) => sqlite.write([operation], { token: systemRandom.uuid() });
  /** All items of one target. */
  const items = (name: string, namespace = 'default'): Promise<readonly Item[]> => {
    const { pk, prefix } = targetAddress(namespace, name);
    return sqlite.query({ pk, from: prefix, to: prefix + prefixEnd });
  };
  /** The first item of a target that has this kind. */
  const itemOf = async (name: string, kind: string): Promise<Item | undefined> =>
    (await items(name)).find((item) => item.kind === kind);
  const everything = async (): Promise<number> => {
    const buckets = Array.from({ length: 256 }, (_, index) => `B#${index.toString(16).padStart(2, '0')}`);
    const found = await Promise.all([...buckets, 'CHANGES'].map((pk) => sqlite.query({ pk })));
    return found.flat().length;
  };
  return {
    app,
    request,
    ask,
    expect,
    items,
    itemOf,
    everything,
    /** Past the API. */
    put: (item: Item) => write({ kind: 'put', item }),
    set: ({ pk, sk }: Key, set: { readonly [attribute: string]: Json | undefined }) =>
      write({ kind: 'update', key: { pk, sk }, set }),
    /** As after the purge of a target. */
    remove: async (name: string) => {
      for (const { pk, sk } of await items(name)) await write({ kind: 'delete', key: { pk, sk } });
    },
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

/** A world in which the target `checkout` is registered. */
export async function registered(body: object = manifest()): Promise<World> {
  const world = apiWorld();
  await world.expect(201, 'PUT', targetPath('checkout'), body);
  return world;
}

export const inWorld = testsIn(() => apiWorld());
export const inRegistered = testsIn(() => registered());

/** Stores the next write of a target and then loses the answer to it. */
export function losingStore() {
  const lost = { next: true };
  const wrapStore = (store: Store): Store => ({
    ...store,
    write: async (operations, options) => {
      const outcome = await store.write(operations, options);
      if (!lost.next || !operations.some((each) => keyOf(each).sk.endsWith('#TARGET'))) return outcome;
      lost.next = false;
      return { kind: 'inDoubt' };
    },
  });
  return { lost, wrapStore };
}

export const keyOf = (operation: Operation): Key => (operation.kind === 'put' ? operation.item : operation.key);

/** What a world with a token has. */
export const testToken = 'a-token-for-tests';

export type World = ReturnType<typeof apiWorld>;

export { targetPath };

/** A small manifest with one readiness probe. */
export const manifest = (host = '127.0.0.1') => ({
  spec: { host, readinessProbe: { httpGet: { path: '/ready', port: 8080 } } },
});

export const targetsPath = '/v1/namespaces/default/targets';

export const yaml = { 'content-type': 'application/yaml' };
