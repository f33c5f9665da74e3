/** The store in one SQLite file, for a single process. Every commit is durable; writes that wait together share one. */
import { hash } from 'node:crypto';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ownProperty } from '../core/own-property.ts';
import { conditionsHold } from './condition.ts';
import { itemBytes, itemBytesMax, readUnits, type StoreCall, writeUnits } from './item-size.ts';
import {
  attributesOf,
  definedOf,
  expiryAttribute,
  lastWriteAttribute,
  operationKey,
  plainAttributes,
  requireValidWrite,
} from './operation.ts';
import { type RecentWrites, recentWrites, type WriteName } from './recent-writes.ts';
import { asUnavailable, openDatabase, withUnavailable } from './sqlite-file.ts';
import { WriteGroups } from './sqlite-groups.ts';
import type { Item, Key, Operation, Query, Refusal, Store, WriteOutcome } from './store.ts';

export type SqliteStore = Store & {
  /** Removes up to `limit` items whose `expiresAt` (s since the epoch) has passed; returns their number. */
  sweep(nowMs: number, limit: number): number;
  close(): void;
};

type Options = {
  /** A file path or `:memory:`. */
  readonly path: string;
  readonly onCall?: (call: StoreCall) => void;
  readonly onWrite?: OnWrite;
};

/** An item that a write stored or removed. */
export type ItemChange = { readonly before: Item | undefined; readonly after: Item | undefined };

/** Called in the turn in which a write becomes durable; `inDoubt` means that it may be. Not called for sweeps. */
type OnWrite = (changes: readonly ItemChange[] | 'inDoubt') => void;

/** The stored attributes without the key, including those of the adapter. */
type Stored = { readonly [attribute: string]: unknown };

/** What an operation does to the stored item. */
type Effect =
  | { readonly kind: 'none' }
  | { readonly kind: 'store'; readonly after: Stored }
  | { readonly kind: 'remove' }
  | { readonly kind: 'refuse' };

type Step = { readonly operation: Operation; readonly before: Stored | undefined; readonly effect: Effect };

type Context = {
  readonly groups: WriteGroups;
  readonly isInMemory: boolean;
  readonly statements: ReturnType<typeof prepareStatements>;
  readonly recentWrites: RecentWrites;
  /** Called with `?.`, so that units are computed only if there is a listener. */
  readonly onCall: ((call: StoreCall) => void) | undefined;
  readonly onWrite: OnWrite | undefined;
};

/**
 * Opens or creates the file. `user_version` holds the schema version.
 * @throws Error if the file has a newer schema or is not a store.
 */
export function sqliteStore(options: Options): SqliteStore {
  const { path } = options;
  const database = openDatabase(path);
  const groups = new WriteGroups(database, setImmediate);
  const context: Context = {
    groups,
    isInMemory: path === ':memory:',
    statements: prepareStatements(database),
    recentWrites: recentWrites(),
    onCall: options.onCall,
    onWrite: options.onWrite,
  };
  return {
    get: async (key, { eventuallyConsistent = false } = {}) =>
      withUnavailable(path, () => get(context, key, eventuallyConsistent)),
    query: async (query) => withUnavailable(path, () => select(context, query)),
    write: async (operations, { token }) => {
      requireValidWrite(operations, token);
      return write(context, operations, token).catch((error: unknown) => {
        throw asUnavailable(path, error);
      });
    },
    sweep: (nowMs, limit) =>
      withUnavailable(path, () => Number(context.statements.sweep.run(Math.floor(nowMs / 1000), limit).changes)),
    close: () => {
      groups.flush();
      database.close();
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const range = 'SELECT sk, doc FROM items WHERE pk = ? AND sk >= ? AND sk <= ? ORDER BY sk';
  return {
    get: database.prepare('SELECT doc FROM items WHERE pk = ? AND sk = ?'),
    // SQLite plans a statement again each time that a bare limit is bound.
    ascending: database.prepare(`${range} ASC LIMIT ? + 0`),
    descending: database.prepare(`${range} DESC LIMIT ? + 0`),
    put: database.prepare(
      'INSERT INTO items (pk, sk, doc, expires_at) VALUES (?, ?, ?, ?) ' +
        'ON CONFLICT (pk, sk) DO UPDATE SET doc = excluded.doc, expires_at = excluded.expires_at',
    ),
    remove: database.prepare('DELETE FROM items WHERE pk = ? AND sk = ?'),
    sweep: database.prepare(
      'DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires_at < ? ORDER BY expires_at LIMIT ? + 0)',
    ),
  } satisfies { readonly [name: string]: StatementSync };
}

function get(context: Context, key: Key, eventuallyConsistent: boolean): Item | undefined {
  const stored = load(context, key);
  context.onCall?.(readCall('get', [{ key, stored: stored ?? {} }], eventuallyConsistent));
  return stored && itemOf(key, stored);
}

/** Sorts after every sort key: in SQLite, a blob sorts after all text. */
const unbounded = new Uint8Array();

/** SQLite treats a negative limit as no limit. */
const unlimited = -1;

function select(context: Context, query: Query): readonly Item[] {
  const { ascending, descending } = context.statements;
  const statement = query.descending ? descending : ascending;
  const rows = statement.all(query.pk, query.from ?? '', query.to ?? unbounded, query.limit ?? unlimited);
  const keyed = rows.map((row) => ({ key: { pk: query.pk, sk: String(row.sk) }, stored: parse(row.doc) }));
  context.onCall?.(readCall('query', keyed, query.eventuallyConsistent ?? false));
  return keyed.map(({ key, stored }) => itemOf(key, stored));
}

/** In memory there is no disk to wait for, so each write is a group of its own, and done when the call returns. */
function write(context: Context, operations: readonly Operation[], token: string): Promise<WriteOutcome> {
  const { groups, recentWrites, isInMemory } = context;
  const name = { token, digest: digestOf(operations) };
  let written: Written | undefined;
  const answer = groups.add({
    run: () => {
      written = writeInTransaction(context, operations, name);
      if (written.isNew) recentWrites.remember(name);
      return written.outcome;
    },
    onDurable: () => context.onWrite?.(written?.steps.flatMap(changeOf) ?? []),
    onLost: (how) => {
      if (written?.isNew) recentWrites.forget(name);
      if (how === 'inDoubt') context.onWrite?.('inDoubt');
    },
  });
  if (isInMemory) groups.flush();
  return answer;
}

function changeOf({ operation, before, effect }: Step): readonly ItemChange[] {
  if (effect.kind === 'none' || effect.kind === 'refuse') return [];
  const key = operationKey(operation);
  const after = effect.kind === 'store' ? itemOf(key, effect.after) : undefined;
  return [{ before: before && itemOf(key, before), after }];
}

/** `steps` are the applied operations; `isNew`: the write was not known. */
type Written = { readonly outcome: WriteOutcome; readonly steps: readonly Step[]; readonly isNew: boolean };

function writeInTransaction(context: Context, operations: readonly Operation[], name: WriteName): Written {
  const found = operations.map((operation) => ({ operation, before: load(context, operationKey(operation)) }));
  const isKnown = context.recentWrites.has(name);
  const repeated = isKnown || found.some(({ before }) => before?.[lastWriteAttribute] === name.token);
  const same = () => singleUpdate(found.map((one) => ({ ...one, after: one.before })));
  if (repeated) return { outcome: { kind: 'written', ...same() }, steps: [], isNew: !isKnown };
  const steps = found.map((one) => ({ ...one, effect: effectOf(one.operation, one.before, name.token) }));
  context.onCall?.(writeCall(steps));
  const refusals = steps.flatMap(refusalOf);
  if (refusals.length > 0) return { outcome: { kind: 'refused', refusals }, steps: [], isNew: false };
  for (const step of steps) apply(context, step);
  const after = singleUpdate(steps.map((step) => ({ ...step, after: afterOf(step) })));
  return { outcome: { kind: 'written', ...after }, steps, isNew: true };
}

function effectOf(operation: Operation, before: Stored | undefined, token: string): Effect {
  if (!conditionsHold(operation.if, before)) return { kind: 'refuse' };
  switch (operation.kind) {
    case 'check':
      return { kind: 'none' };
    case 'put':
      return {
        kind: 'store',
        after: plainAttributes({ ...attributesOf(operation.item), [lastWriteAttribute]: token }),
      };
    case 'update':
      return { kind: 'store', after: { ...updated(operation, before ?? {}), [lastWriteAttribute]: token } };
    case 'delete':
      return { kind: 'remove' };
  }
}

function updated(operation: Operation & { readonly kind: 'update' }, before: Stored): Stored {
  const after: { [attribute: string]: unknown } = { ...before, ...plainAttributes(definedOf(operation.set ?? {})) };
  for (const attribute of operation.remove ?? []) delete after[attribute];
  for (const [attribute, amount] of Object.entries(operation.add ?? {})) {
    const value = ownProperty(after, attribute) ?? 0;
    if (typeof value !== 'number') throw new Error(`add: attribute '${attribute}' is not a number`);
    after[attribute] = value + amount;
  }
  return after;
}

/**
 * An item whose text is not longer is within the limit, whatever its key: what DynamoDB counts of a value is at most
 * four times the length of its JSON, and a key is at most 3 KiB.
 */
const docLengthSafe = itemBytesMax / 5;

function apply(context: Context, step: Step): void {
  const { pk, sk } = operationKey(step.operation);
  if (step.effect.kind === 'remove') context.statements.remove.run(pk, sk);
  if (step.effect.kind !== 'store') return;
  const { after } = step.effect;
  const doc = JSON.stringify(after);
  if (doc.length > docLengthSafe && itemBytes({ pk, sk, ...after }) > itemBytesMax)
    throw new Error(`item ${pk} ${sk} is over ${itemBytesMax} bytes`);
  const expiry = after[expiryAttribute];
  context.statements.put.run(pk, sk, doc, typeof expiry === 'number' ? expiry : null);
}

function refusalOf(step: Step, index: number): readonly Refusal[] {
  if (step.effect.kind !== 'refuse') return [];
  const key = operationKey(step.operation);
  return [{ index, kind: 'condition', ...(step.before && { item: itemOf(key, step.before) }) }];
}

const afterOf = (step: Step): Stored | undefined => (step.effect.kind === 'store' ? step.effect.after : undefined);

function singleUpdate(steps: readonly { readonly operation: Operation; readonly after: Stored | undefined }[]): {
  readonly item?: Item;
} {
  const [only] = steps;
  if (!only?.after || steps.length > 1 || only.operation.kind !== 'update') return {};
  return { item: itemOf(only.operation.key, only.after) };
}

type Keyed = { readonly key: Key; readonly stored: Stored };

function readCall(operation: 'get' | 'query', items: readonly Keyed[], eventuallyConsistent: boolean): StoreCall {
  const bytes = items.reduce((sum, { key, stored }) => sum + itemBytes({ pk: key.pk, sk: key.sk, ...stored }), 0);
  return { operation, readUnits: readUnits(bytes, eventuallyConsistent), writeUnits: 0 };
}

/** DynamoDB executes a single delete or check as a transaction, at twice the price: see dynamodb-request.ts. */
function writeCall(steps: readonly Step[]): StoreCall {
  const kind = steps.length === 1 ? steps[0]?.operation.kind : undefined;
  const operation = kind === 'put' || kind === 'update' ? kind : 'transaction';
  const units = steps.map((step) => writeUnits(largerBytes(step), operation === 'transaction'));
  return { operation, readUnits: 0, writeUnits: units.reduce((sum, one) => sum + one, 0) };
}

function largerBytes(step: Step): number {
  const key = operationKey(step.operation);
  return Math.max(...[step.before, afterOf(step)].map((stored) => (stored ? itemBytes({ ...key, ...stored }) : 0)));
}

function load(context: Context, key: Key): Stored | undefined {
  const row = context.statements.get.get(key.pk, key.sk);
  return row && parse(row.doc);
}

const parse = (doc: unknown): Stored => JSON.parse(String(doc)) as Stored;

function itemOf({ pk, sk }: Key, stored: Stored): Item {
  // A rest pattern takes ten times as long for an item of many attributes, as a change counter is.
  const item: { [attribute: string]: unknown } = { ...stored };
  delete item[lastWriteAttribute];
  item.pk = pk;
  item.sk = sk;
  return item as Item;
}

const digestOf = (operations: readonly Operation[]): string => hash('sha256', JSON.stringify(operations), 'base64');
