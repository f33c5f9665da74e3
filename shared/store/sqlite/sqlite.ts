/** The store in one SQLite file, for a single process. Every commit is durable; writes that wait together share one. */
import { hash } from 'node:crypto';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { ownProperty } from '../../lib/own-property.ts';
import { conditionsHold } from '../condition.ts';
import { itemBytes, itemBytesMax } from '../item-size.ts';
import {
  attributesOf,
  definedOf,
  expiryAttribute,
  operationKey,
  plainAttributes,
  requireValidWrite,
} from '../operation.ts';
import { type RecentWrites, recentWrites, type WriteName } from '../recent-writes.ts';
import type { Item, Key, Operation, Query, Refusal, Store, WriteOutcome } from '../store.ts';
import { type Attributes, docOf, type Stored, storedIn } from './doc.ts';
import { asUnavailable, openDatabase, usedBytes, withUnavailable } from './file.ts';
import { WriteGroups } from './groups.ts';
import { type HistoryPlace, type HistoryTrim, historyTrimmer, type TrimmedHistory } from './history.ts';

export type SqliteStore = Store & {
  /** Removes up to `limit` items whose `expiresAt` (s since the epoch) has passed; returns their number. */
  sweep(nowMs: number, limit: number): number;
  /** Does one part of a pass over the event history, as `history.ts` says. */
  trimHistory(from: HistoryPlace, options: HistoryTrim): TrimmedHistory;
  /** Bytes of the file that are in use. */
  usedBytes(): number;
  close(): void;
};

type Options = {
  /** A file path or `:memory:`. */
  readonly path: string;
  readonly onWrite?: OnWrite;
};

/** An item that a write stored or removed. Most listeners care for few keys, so the items are made when asked for. */
export type ItemChange = {
  readonly key: Key;
  readonly before: () => Item | undefined;
  readonly after: () => Item | undefined;
};

/** Called in the turn in which a write becomes durable; `inDoubt` means that it may be. Not called for sweeps. */
type OnWrite = (changes: readonly ItemChange[] | 'inDoubt') => void;

/** What an operation does to the stored item. `doc`: `after` as text, without what is `undefined`. */
type Effect =
  | { readonly kind: 'none' }
  | { readonly kind: 'store'; readonly after: Attributes; readonly doc: string }
  | { readonly kind: 'remove' }
  | { readonly kind: 'refuse' };

type Step = { readonly operation: Operation; readonly before: Stored | undefined; readonly effect: Effect };

type Context = {
  readonly groups: WriteGroups;
  readonly isInMemory: boolean;
  readonly statements: ReturnType<typeof prepareStatements>;
  readonly recentWrites: RecentWrites;
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
  const trimmed = historyTrimmer(database);
  const context: Context = {
    groups,
    isInMemory: path === ':memory:',
    statements: prepareStatements(database),
    recentWrites: recentWrites(),
    onWrite: options.onWrite,
  };
  return {
    get: async (key) => withUnavailable(path, () => get(context, key)),
    query: async (query) => withUnavailable(path, () => select(context, query)),
    write: async (operations, { token }) => {
      requireValidWrite(operations, token);
      return write(context, operations, token).catch((error: unknown) => {
        throw asUnavailable(path, error);
      });
    },
    sweep: (nowMs, limit) =>
      withUnavailable(path, () => Number(context.statements.sweep.run(Math.floor(nowMs / 1000), limit).changes)),
    trimHistory: (from, trim) => withUnavailable(path, () => trimmed(from, trim)),
    usedBytes: () => withUnavailable(path, () => usedBytes(database)),
    close: () => {
      groups.flush();
      database.close();
    },
  };
}

function prepareStatements(database: DatabaseSync) {
  const range = 'SELECT sk, doc FROM items WHERE pk = ? AND sk >= ? AND sk <= ? ORDER BY sk';
  return {
    get: rowsOf(database.prepare('SELECT doc FROM items WHERE pk = ? AND sk = ?')),
    // SQLite plans a statement again each time that a bare limit is bound.
    ascending: rowsOf(database.prepare(`${range} ASC LIMIT ? + 0`)),
    descending: rowsOf(database.prepare(`${range} DESC LIMIT ? + 0`)),
    put: database.prepare(
      'INSERT INTO items (pk, sk, doc, expires_at) VALUES (?, ?, ?, ?) ' +
        'ON CONFLICT (pk, sk) DO UPDATE SET doc = excluded.doc, expires_at = excluded.expires_at',
    ),
    remove: database.prepare('DELETE FROM items WHERE pk = ? AND sk = ?'),
    sweep: database.prepare(
      'DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires_at < ? ORDER BY expires_at LIMIT ? + 0)',
    ),
  };
}

/** Rows as arrays of their columns: objects with named ones take a third longer. */
function rowsOf(statement: StatementSync) {
  statement.setReturnArrays(true);
  return {
    get: (...values: readonly SQLInputValue[]) => statement.get(...values) as readonly unknown[] | undefined,
    all: (...values: readonly SQLInputValue[]) =>
      statement.all(...values) as unknown as readonly (readonly unknown[])[],
  };
}

function get(context: Context, key: Key): Item | undefined {
  const stored = load(context, key);
  return stored && itemOf(key, stored.attributes);
}

/** Sorts after every sort key: in SQLite, a blob sorts after all text. */
const unbounded = new Uint8Array();

/** SQLite treats a negative limit as no limit. */
const unlimited = -1;

function select(context: Context, query: Query): readonly Item[] {
  const { ascending, descending } = context.statements;
  const statement = query.descending ? descending : ascending;
  const rows = statement.all(query.pk, query.from ?? '', query.to ?? unbounded, query.limit ?? unlimited);
  return rows.map(([sk, doc]) => itemOf({ pk: query.pk, sk: String(sk) }, storedIn(String(doc)).attributes));
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
  return [
    {
      key,
      before: () => before && itemOf(key, before.attributes),
      after: () => (effect.kind === 'store' ? itemOf(key, storedIn(effect.doc).attributes) : undefined),
    },
  ];
}

/** `steps` are the applied operations; `isNew`: the write was not known. */
type Written = { readonly outcome: WriteOutcome; readonly steps: readonly Step[]; readonly isNew: boolean };

function writeInTransaction(context: Context, operations: readonly Operation[], name: WriteName): Written {
  const found = operations.map((operation) => ({ operation, before: load(context, operationKey(operation)) }));
  const isKnown = context.recentWrites.has(name);
  const repeated = isKnown || found.some(({ before }) => before?.token === name.token);
  const same = () => singleUpdate(found.map((one) => ({ ...one, after: one.before?.attributes })));
  if (repeated) return { outcome: { kind: 'written', ...same() }, steps: [], isNew: !isKnown };
  const steps = found.map((one) => ({ ...one, effect: effectOf(one.operation, one.before?.attributes, name.token) }));
  const refusals = steps.flatMap(refusalOf);
  if (refusals.length > 0) return { outcome: { kind: 'refused', refusals }, steps: [], isNew: false };
  for (const step of steps) apply(context, step);
  const after = singleUpdate(steps.map((step) => ({ ...step, after: afterOf(step) })));
  return { outcome: { kind: 'written', ...after }, steps, isNew: true };
}

function effectOf(operation: Operation, before: Attributes | undefined, token: string): Effect {
  if (!conditionsHold(operation.if, before)) return { kind: 'refuse' };
  const store = (after: Attributes): Effect => ({ kind: 'store', after, doc: docOf(after, token) });
  switch (operation.kind) {
    case 'check':
      return { kind: 'none' };
    case 'put':
      return store(attributesOf(operation.item));
    case 'update':
      return store(updated(operation, before ?? {}));
    case 'delete':
      return { kind: 'remove' };
  }
}

function updated(operation: Operation & { readonly kind: 'update' }, before: Attributes): Attributes {
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
  const { after, doc } = step.effect;
  if (doc.length > docLengthSafe && itemBytes({ pk, sk, ...(JSON.parse(doc) as Attributes) }) > itemBytesMax)
    throw new Error(`item ${pk} ${sk} is over ${itemBytesMax} bytes`);
  const expiry = after[expiryAttribute];
  context.statements.put.run(pk, sk, doc, typeof expiry === 'number' ? expiry : null);
}

function refusalOf(step: Step, index: number): readonly Refusal[] {
  if (step.effect.kind !== 'refuse') return [];
  const key = operationKey(step.operation);
  return [{ index, kind: 'condition', ...(step.before && { item: itemOf(key, step.before.attributes) }) }];
}

const afterOf = (step: Step): Attributes | undefined => (step.effect.kind === 'store' ? step.effect.after : undefined);

function singleUpdate(steps: readonly { readonly operation: Operation; readonly after: Attributes | undefined }[]): {
  readonly item?: Item;
} {
  const [only] = steps;
  if (!only?.after || steps.length > 1 || only.operation.kind !== 'update') return {};
  return { item: itemOf(only.operation.key, only.after) };
}

function load(context: Context, key: Key): Stored | undefined {
  const row = context.statements.get.get(key.pk, key.sk);
  return row && storedIn(String(row[0]));
}

/** The attributes become the item. */
const itemOf = ({ pk, sk }: Key, attributes: Attributes): Item => Object.assign(attributes, { pk, sk }) as Item;

const digestOf = (operations: readonly Operation[]): string => hash('sha256', JSON.stringify(operations), 'base64');
