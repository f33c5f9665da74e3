/**
 * The one table of a simulated world, in memory: what shared/store/store.ts promises, in an instant, and the history of
 * all writes with time and writer. Eventually consistent reads return an earlier state.
 */
import { ownProperty } from '../../shared/lib/own-property.ts';
import { conditionsHold } from '../../shared/store/condition.ts';
import { itemBytes, itemBytesMax } from '../../shared/store/item-size.ts';
import { operationKey, requireValidWrite } from '../../shared/store/operation.ts';
import type { Item, Key, Operation, Query, Refusal, WriteOutcome } from '../../shared/store/store.ts';
import { mayExceed } from './item-bound.ts';

export type Change = { readonly key: Key; readonly before: Item | undefined; readonly after: Item | undefined };

/** One write that was applied. */
export type AppliedWrite = {
  readonly timeMs: number;
  readonly writer: string;
  readonly operations: readonly Operation[];
  /** One for each operation that changes something, checks left out. */
  readonly changes: readonly Change[];
};

export type WriteRequest = {
  readonly operations: readonly Operation[];
  readonly token: string;
  readonly writer: string;
};

/** `own`: of a single put or update, the item's present state was made by this very token. */
export type Applied = WriteOutcome & { readonly kind: 'written' | 'refused' };

export type Table = {
  get(key: Key, laterByMs?: number): Item | undefined;
  query(query: Query, laterByMs?: number): readonly Item[];
  write(request: WriteRequest): Applied;
  onApplied(listener: (write: AppliedWrite) => void): void;
};

/** How old what is read eventually consistent may be. */
const historyMs = 12_000;
/** DynamoDB remembers a transaction's token for ten minutes. */
const recentWritesMax = 1_000;

type Version = { readonly atMs: number; readonly item: Item | undefined; readonly token: string };
/** Newest last. */
type Cell = Version[];
type Partition = { readonly cells: Map<string, Cell>; sorted: string[]; beyondAscii: boolean };

export function table(nowMs: () => number): Table {
  const partitions = new Map<string, Partition>();
  const recent = new Map<string, readonly Operation[]>();
  const listeners: ((write: AppliedWrite) => void)[] = [];

  const cellOf = (key: Key): Cell | undefined => partitions.get(key.pk)?.cells.get(key.sk);
  const latest = (key: Key): Version | undefined => cellOf(key)?.at(-1);

  const keep = (key: Key, version: Version) => {
    const partition = partitions.get(key.pk) ?? { cells: new Map(), sorted: [], beyondAscii: false };
    partitions.set(key.pk, partition);
    const cell = partition.cells.get(key.sk);
    if (!cell) {
      partition.beyondAscii ||= /[\ud800-\uffff]/.test(key.sk);
      partition.cells.set(key.sk, [version]);
      partition.sorted.splice(firstNotBefore(partition, key.sk), 0, key.sk);
      return;
    }
    cell.push(version);
    while (cell.length > 1 && (cell[1]?.atMs ?? 0) < version.atMs - historyMs) cell.shift();
  };

  const apply = ({ operations, token, writer }: WriteRequest, effects: readonly Effect[]): void => {
    const timeMs = nowMs();
    const changes: Change[] = [];
    for (const effect of effects) {
      if (effect.kind !== 'change') continue;
      const { key, before, after } = effect;
      if (after && mayExceed(after, itemBytesMax) && itemBytes(after) > itemBytesMax)
        throw new Error(`item ${key.pk} ${key.sk} is over ${itemBytesMax} bytes`);
      changes.push({ key, before, after });
    }
    for (const { key, after } of changes) keep(key, { atMs: timeMs, item: after, token });
    if (changes.length === 0) return;
    for (const listener of listeners) listener({ timeMs, writer, operations, changes });
  };

  function write(request: WriteRequest): Applied {
    const { operations, token } = request;
    requireValidWrite(operations, token);
    const single = operations.length === 1 ? operations[0] : undefined;
    const known = recent.get(token);
    if (known && known !== operations && JSON.stringify(known) !== JSON.stringify(operations))
      throw new Error(`token '${token}' names another write`);
    const own = operations.some((operation) => latest(operationKey(operation))?.token === token);
    // As in DynamoDB: transactions are known by their remembered token, a single write by the token on its item.
    if (own || (known && !single)) return written(single, single && latest(operationKey(single))?.item);
    const effects = operations.map((operation) => effectOf(operation, latest(operationKey(operation))?.item));
    const refusals = effects.flatMap((effect, index): Refusal[] =>
      effect.kind === 'refuse' ? [{ index, kind: 'condition', ...(effect.before && { item: effect.before }) }] : [],
    );
    if (refusals.length > 0) return { kind: 'refused', refusals };
    apply(request, effects);
    remember(token, operations);
    const [effect] = effects;
    return written(single, effect?.kind === 'change' ? effect.after : undefined);
  }

  const remember = (token: string, operations: readonly Operation[]) => {
    recent.set(token, operations);
    const oldest = recent.keys().next();
    if (recent.size > recentWritesMax && !oldest.done) recent.delete(oldest.value);
  };

  const asOf = (cell: Cell | undefined, laterByMs: number): Item | undefined => {
    if (!cell) return undefined;
    if (laterByMs === 0) return cell.at(-1)?.item;
    const atMs = nowMs() - laterByMs;
    return cell.findLast((version) => version.atMs <= atMs)?.item;
  };

  return {
    get: (key, laterByMs = 0) => asOf(cellOf(key), laterByMs),
    query({ pk, from = '', to, limit = Number.POSITIVE_INFINITY, descending = false }, laterByMs = 0) {
      const partition = partitions.get(pk);
      if (!partition) return [];
      const { sorted } = partition;
      const first = from === '' ? 0 : firstNotBefore(partition, from);
      const end = to === undefined ? sorted.length : firstAfter(partition, to);
      const items: Item[] = [];
      for (let step = 0; step < end - first && items.length < limit; step += 1) {
        const sk = sorted[descending ? end - 1 - step : first + step];
        const item = sk === undefined ? undefined : asOf(partition.cells.get(sk), laterByMs);
        if (item) items.push(item);
      }
      return items;
    },
    write,
    onApplied: (listener) => void listeners.push(listener),
  };
}

type Effect =
  | { readonly kind: 'none' }
  | { readonly kind: 'refuse'; readonly before: Item | undefined }
  | ({ readonly kind: 'change' } & Change);

function effectOf(operation: Operation, before: Item | undefined): Effect {
  if (!conditionsHold(operation.if, before)) return { kind: 'refuse', before };
  const key = operationKey(operation);
  switch (operation.kind) {
    case 'check':
      return { kind: 'none' };
    case 'put':
      return { kind: 'change', key, before, after: kept(operation.item) as Item };
    case 'update':
      return { kind: 'change', key, before, after: updated(operation, before ?? key) };
    case 'delete':
      return { kind: 'change', key, before, after: undefined };
  }
}

function updated(operation: Operation & { readonly kind: 'update' }, before: Item): Item {
  const after: { [attribute: string]: unknown } = { ...before };
  const { set = {} } = operation;
  for (const attribute of Object.keys(set)) {
    const value = set[attribute];
    if (value !== undefined) after[attribute] = kept(value);
  }
  for (const attribute of operation.remove ?? []) delete after[attribute];
  for (const [attribute, amount] of Object.entries(operation.add ?? {})) {
    const value = ownProperty(after, attribute) ?? 0;
    if (typeof value !== 'number') throw new Error(`add: attribute '${attribute}' is not a number`);
    after[attribute] = value + amount;
  }
  return Object.freeze(after) as Item;
}

/** A frozen copy as it would come back from JSON: items are returned as they are stored. */
function kept(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return Object.freeze(value.map((inner) => (inner === undefined ? null : kept(inner))));
  const copy: { [name: string]: unknown } = {};
  for (const name of Object.keys(value)) {
    const inner = (value as { readonly [name: string]: unknown })[name];
    if (inner !== undefined) copy[name] = kept(inner);
  }
  return Object.freeze(copy);
}

function written(single: Operation | undefined, item: Item | undefined): Applied {
  return { kind: 'written', ...(single?.kind === 'update' && item && { item }) };
}

/** DynamoDB orders by UTF-8 bytes, JavaScript by UTF-16 units: they differ only from the surrogates on. */
function isBefore(partition: Partition, a: string, b: string): boolean {
  return partition.beyondAscii ? Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 : a < b;
}

function firstNotBefore(partition: Partition, sk: string): number {
  return search(partition.sorted, (other) => !isBefore(partition, other, sk));
}

function firstAfter(partition: Partition, sk: string): number {
  return search(partition.sorted, (other) => isBefore(partition, sk, other));
}

/** The first for which it holds, in a list where it holds from some point on. */
function search(sorted: readonly string[], holds: (sk: string) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(sorted[middle] ?? '')) high = middle;
    else low = middle + 1;
  }
  return low;
}
