/**
 * Each string field of each body at its limit, in ASCII and in characters of several bytes, through the whole path: the
 * API takes it, a failure is committed, status-sync restarts the container, subscribers and the API learn that, and the
 * target is purged. The limit is what the API takes; every key is as long as it can be, since the target has the
 * longest name.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { z } from 'zod';
import { manifestSchema } from '../../shared/api/schema/manifest-schema.ts';
import { statusReportSchema } from '../../shared/api/schema/status-report.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { systemRandom } from '../../shared/lib/random.ts';
import { syncTarget } from '../../shared/status-sync/sync.ts';
import { dynamodbStore } from '../../shared/store/dynamodb/dynamodb.ts';
import { prefixEnd, targetAddress } from '../../shared/store/records/keys.ts';
import { sqliteStore } from '../../shared/store/sqlite/sqlite.ts';
import type { Item, Store } from '../../shared/store/store.ts';
import { dynamodbForTests } from '../store/dynamodb-bench.ts';
import { localClient } from '../support/dynamodb-local.ts';
import { bodyWith, type Path, stringPaths } from './string-fields.ts';
import { apiWorld, targetPath, type World } from './world.ts';

const namespace = 'n'.repeat(63);
const name = Array.from({ length: 4 }, () => 'x'.repeat(63))
  .join('.')
  .slice(0, 253);
const path = targetPath(name, namespace);
const address = targetAddress(namespace, name);

/** More characters than any field may have, fewer than a body. */
const charactersMax = 30_000;

/** A field wants one of these forms; `*` is filled up. */
const forms = ['*', 'a://*', '/*', 'probelet.dev/*'];
const fillings = { ASCII: 'a', 'three bytes': '€', 'four bytes': '😀' };

type Body = 'manifest' | 'report';
type Bodies = { readonly manifest: unknown; readonly report: unknown };
type Case = { readonly field: string; readonly title: string; readonly bodies: Bodies; readonly bytes: number };

const containerName = (path: Path): boolean => path.at(-1) === 'name' && path.length === 4;

/** What a field is beside; whatever the path goes through is the path's own. */
function basis(body: Body, fieldPath: Path): unknown {
  const has = (part: string) => fieldPath.includes(part);
  const tcp = { tcpSocket: { port: 80 } };
  if (body === 'report') {
    const state = has('state') ? {} : { state: { running: { startedAt: '2026-01-01T00:00:00Z' } } };
    return { status: { containerStatuses: [{ name: 'main', containerID: 'a://1', ...state }] } };
  }
  const container = { name: 'main', ...(!has('livenessProbe') && { livenessProbe: tcp }) };
  const isShort = fieldPath[0] === 'spec' && String(fieldPath[1]).endsWith('Probe');
  const init = has('initContainers') && { initContainers: [{ name: 'init', restartPolicy: 'Always' }] };
  return { spec: { host: '127.0.0.1', lifecycle: 'reported', ...init, ...(!isShort && { containers: [container] }) } };
}

function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) return [merged(one[0], other[0]), ...one.slice(1)];
  const isPlain = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isPlain(one) || !isPlain(other)) return other ?? one;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const get = (value: object, key: string): unknown => new Map(Object.entries(value)).get(key);
  return Object.fromEntries([...names].map((key) => [key, merged(get(one, key), get(other, key))]));
}

/** The least of a container that the schema adds is nothing that the basis has not. */
const withField = (body: Body, schema: z.ZodType, field: Path, value: string): unknown => {
  const built = bodyWith(schema, field, value);
  return containerName(field)
    ? merged(basis(body, field), built)
    : merged(built, merged(basis(body, field), onlyField(built, field)));
};

/** Of a body that was built around a field, the field alone. */
function onlyField(built: unknown, [key, ...rest]: Path): unknown {
  if (key === undefined || key === '*' || typeof built !== 'object' || built === null) return built;
  const inner = onlyField(new Map(Object.entries(built)).get(String(key)), rest);
  return Array.isArray(built) ? [inner] : { [key]: inner };
}

/**
 * The longest values that the API takes, by field and filling; a field that has none but its own few words has no case.
 */
async function casesOf(body: Body, schema: z.ZodType): Promise<readonly Case[]> {
  const world = apiWorld();
  const base = { manifest: basis('manifest', []), report: basis('report', []) };
  await world.expect(201, 'PUT', path, base.manifest);
  const takes = async (document: unknown): Promise<boolean> => {
    const url = body === 'manifest' ? `${path}?dryRun=true` : `${path}/status?dryRun=true`;
    const headers = { 'content-type': 'application/json' };
    const sent = new Request(`http://probelet.test${url}`, { method: 'PUT', headers, body: JSON.stringify(document) });
    return (await world.app.fetch(sent)).ok;
  };
  const cases: Case[] = [];
  for (const field of stringPaths(schema))
    for (const [filling, character] of Object.entries(fillings)) {
      const document = (form: string, characters: number) =>
        withField(body, schema, field, form.replace('*', character.repeat(characters)));
      for (const form of forms) {
        const characters = await longest((count) => takes(document(form, count)));
        if (characters < 2) continue;
        const named = `${body} ${field.join('.')}`;
        const title = `${named}, ${characters} characters, ${filling}`;
        const bytes = characters * Buffer.byteLength(character);
        cases.push({ field: named, title, bytes, bodies: { ...base, [body]: document(form, characters) } });
        break;
      }
    }
  return cases;
}

/** Of what is taken up to some length. */
async function longest(takes: (characters: number) => Promise<boolean>): Promise<number> {
  let [taken, refused] = [0, charactersMax];
  if (!(await takes(2))) return 0;
  while (refused - taken > 1) {
    const middle = Math.floor((taken + refused) / 2);
    if (await takes(middle)) taken = middle;
    else refused = middle;
  }
  return taken;
}

const all = [...(await casesOf('manifest', manifestSchema)), ...(await casesOf('report', statusReportSchema))];

/** Of each field the value of the most bytes: what DynamoDB counts. */
const largest = [
  ...new Map(all.toSorted((one, other) => one.bytes - other.bytes).map((each) => [each.field, each])).values(),
];

test('most fields have a limit that was found', () => {
  const fields = new Set(all.map(({ field }) => field));
  assert.ok(fields.size > 90, `${fields.size} fields`);
  for (const field of ['manifest spec.containers.0.name', 'report status.containerStatuses.0.containerID'])
    assert.ok(fields.has(field), field);
});

describe('each string field at its limit', { concurrency: false }, () => {
  const stores = new Map<string, Store>([['SQLite', sqliteStore({ path: ':memory:' })]]);

  const { createTable } = dynamodbForTests(async ({ endpoint }) => {
    await createTable('fields');
    const ports = { clock: systemClock, random: systemRandom };
    stores.set('DynamoDB', dynamodbStore({ client: localClient(endpoint, 30_000), tableName: 'fields', ...ports }));
  });

  for (const kind of ['SQLite', 'DynamoDB'])
    test(`on ${kind}`, async () => {
      const store = stores.get(kind);
      assert.ok(store);
      const world = apiWorld({ store });
      for (const each of kind === 'SQLite' ? all : largest)
        await played(world, store, each.bodies).catch((cause: unknown) => {
          throw new Error(`${each.title}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
        });
    });
});

/** The life of one target, from its registration to its purge. */
async function played(world: World, store: Store, { manifest, report }: Bodies): Promise<void> {
  const ports = { store, bus: world.bus, clock: world.clock, random: systemRandom, log: world.log };
  await world.expect(201, 'PUT', path, manifest);
  const reported = await world.ask('PUT', `${path}/status`, report);
  assert.ok([200, 422].includes(reported.status), `the report is answered with ${reported.status}`);
  await syncTarget(ports, { namespace, name });
  await failAll(store, report);
  await syncTarget(ports, { namespace, name });
  await world.expect(200, 'GET', path);
  await world.expect(200, 'GET', `${path}/events`);
  assert.deepEqual(world.poison, [], 'what was stored can be read');
  const errors = world.log.lines.filter(({ level }) => level === 'error');
  assert.deepEqual(errors, []);
  await world.expect(202, 'DELETE', `${path}?gracePeriodSeconds=0`);
  assert.equal(await syncTarget(ports, { namespace, name }), 'purged');
}

/** As a holder commits failures of every liveness and startup probe: in the containers that were reported. */
async function failAll(store: Store, report: unknown): Promise<void> {
  const { status } = report as { status: { containerStatuses: { name: string; containerID: string }[] } };
  const idOf = (container: unknown) => status.containerStatuses.find((one) => one.name === container)?.containerID;
  const items = await store.query({ pk: address.pk, from: address.prefix, to: address.prefix + prefixEnd });
  const probes = items.filter((item): item is Item => item.kind === 'PROBE' && item.probeType !== 'readiness');
  for (const { pk, sk, container, version } of probes) {
    const set = { result: 'failure', containerID: idOf(container) ?? 'a://1', version: Number(version) + 1 };
    await store.write([{ kind: 'update', key: { pk, sk }, set }], { token: systemRandom.uuid() });
  }
}
