/**
 * The store as one process sees it: shared/store/store.ts over a faulty network and service. The DynamoDB adapter's
 * reaction is simulated too: it sends a write again with its token, reads back, and may end in doubt.
 */
import type { FunctionName } from '../../functions/bundling.ts';
import { type TableAction, tableActions } from '../../functions/rights.ts';
import { operationKey } from '../../shared/store/operation.ts';
import {
  type Key,
  type Operation,
  type Query,
  type Store,
  StoreThrottled,
  StoreUnavailable,
  type WriteOutcome,
} from '../../shared/store/store.ts';
import type { Admission } from './capacity.ts';
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { Caller, Reply } from './process.ts';
import type { Change, Table, WriteRequest } from './table.ts';

/** What goes wrong with one call. `late`: the request reaches the table only so much after the caller has given up. */
export type StoreFault =
  | { readonly kind: 'slow' }
  | { readonly kind: 'throttled' }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'answerLost' }
  | { readonly kind: 'inDoubt'; readonly applied: 'never' | 'first' | 'late' }
  | { readonly kind: 'conflict' };

export type StoreFaults = {
  next(caller: Caller, call: { readonly site: string; readonly writes: boolean }): StoreFault | undefined;
};

export type StorePorts = {
  readonly table: Table;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly faults: StoreFaults;
  readonly admission: Admission;
};

/** One request of the adapter, and how often it is tried. */
const requestTimeoutMs = 1_500;
const writeSends = 4;
const readSends = 2;
/** DynamoDB promises no bound; a replica that is far behind is what a run has to bear. */
const staleMsMax = 10_000;

export function storeOf(ports: StorePorts, caller: Caller, writer: string): Store {
  return {
    get: (key, { eventuallyConsistent = false } = {}) => {
      const laterByMs = eventuallyConsistent ? staleness(ports.chance) : 0;
      return read(ports, caller, getSite(key), () => {
        const item = ports.table.get(key, laterByMs);
        if (!ports.admission.admitsRead(key.pk, [item])) throttled();
        return item;
      });
    },
    query: (query) => {
      const laterByMs = query.eventuallyConsistent ? staleness(ports.chance) : 0;
      return read(ports, caller, querySite(query), () => {
        const items = ports.table.query(query, laterByMs);
        if (!ports.admission.admitsRead(query.pk, items)) throttled();
        return items;
      });
    },
    write: (operations, { token }) => {
      for (const { kind } of operations) requireRight(caller, actions[kind]);
      return write(ports, caller, { operations, token, writer });
    },
  };
}

/** Which function of a deployment a process is, by its role here. */
const functions = new Map<string, FunctionName>([
  ['worker', 'prober'],
  ['schedule', 'schedule'],
  ['sync', 'status-sync'],
  ['api', 'api'],
]);

const actions: { readonly [kind in Operation['kind']]: TableAction } = {
  check: 'dynamodb:ConditionCheckItem',
  delete: 'dynamodb:DeleteItem',
  put: 'dynamodb:PutItem',
  update: 'dynamodb:UpdateItem',
};

/** A process may only do what the role of its function allows; anything else fails the seed. */
function requireRight({ life }: Caller, action: TableAction): void {
  const name = functions.get(life.role);
  if (name && !tableActions[name].includes(action)) throw new Error(`the role of ${name} lacks ${action}`);
}

const staleness = (chance: Chance): number => (chance.happens(0.8) ? 0 : chance.between(1, staleMsMax));

function latencyMs(chance: Chance): number {
  return chance.happens(0.97) ? chance.between(2, 15) : chance.between(15, 400);
}

function read<Answer>(ports: StorePorts, caller: Caller, site: string, evaluate: () => Answer): Promise<Answer> {
  const { chance, faults } = ports;
  return caller.call(site, (reply: Reply<Answer>) => {
    const fault = faults.next(caller, { site, writes: false });
    switch (fault?.kind) {
      case 'throttled':
        return reply(latencyMs(chance), throttled);
      case 'unreachable':
      case 'inDoubt':
        return reply(requestTimeoutMs * readSends + chance.between(0, 100), unavailable);
      case 'answerLost':
        return reply(requestTimeoutMs + latencyMs(chance), evaluate);
      case 'slow':
      case 'conflict':
        return reply(chance.between(300, 1_400), evaluate);
      case undefined:
        return answerSoon(chance, reply, evaluate);
    }
  });
}

/** Asks the table at the beginning or the end of the latency, so that others come in between. */
function answerSoon<Answer>(chance: Chance, reply: Reply<Answer>, evaluate: () => Answer): void {
  const ms = latencyMs(chance);
  if (chance.happens(0.5)) {
    reply(ms, evaluate);
    return;
  }
  const answer = evaluated(evaluate);
  reply(ms, answer);
}

/** Returns or throws what `evaluate` did now. */
function evaluated<Answer>(evaluate: () => Answer): () => Answer {
  try {
    const answer = evaluate();
    return () => answer;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function write(ports: StorePorts, caller: Caller, request: WriteRequest): Promise<WriteOutcome> {
  const { chance, faults, table, admission } = ports;
  const site = writeSite(request.operations);
  return caller.call(site, (reply: Reply<WriteOutcome>) => {
    const apply = () => {
      if (!admission.admitsWrite(request.operations)) throttled();
      return table.write(request);
    };
    const fault = faults.next(caller, { site, writes: true });
    switch (fault?.kind) {
      case undefined:
        return answerSoon(chance, reply, apply);
      case 'slow':
        return reply(chance.between(300, 1_400), apply);
      case 'throttled':
        return reply(latencyMs(chance), throttled);
      case 'unreachable':
        return reply(requestTimeoutMs * writeSends + chance.between(0, 300), unavailable);
      case 'conflict': {
        const index = chance.between(0, request.operations.length - 1);
        return reply(latencyMs(chance), () => ({ kind: 'refused', refusals: [{ index, kind: 'conflict' }] }));
      }
      case 'answerLost':
        return answerLost(ports, request, reply);
      case 'inDoubt':
        return inDoubt(ports, request, { reply, applied: fault.applied });
    }
  });
}

/** The first request arrives, its answer does not; its token identifies the repetition, or it is judged again. */
function answerLost({ scheduler, chance, table }: StorePorts, request: WriteRequest, reply: Reply<WriteOutcome>): void {
  scheduler.after(latencyMs(chance), { label: 'answer lost', effect: () => void table.write(request) });
  reply(requestTimeoutMs + latencyMs(chance), () => {
    const again = table.write(request);
    return again.kind === 'refused' && isSingle(request.operations) ? { kind: 'inDoubt' } : again;
  });
}

function inDoubt(
  { scheduler, chance, table }: StorePorts,
  request: WriteRequest,
  { reply, applied }: { readonly reply: Reply<WriteOutcome>; readonly applied: 'never' | 'first' | 'late' },
): void {
  const giveUpMs = requestTimeoutMs * (writeSends + 1) + chance.between(0, 500);
  const arriveMs = applied === 'first' ? latencyMs(chance) : chance.between(giveUpMs - 3_000, giveUpMs + 8_000);
  if (applied !== 'never')
    scheduler.after(arriveMs, { label: `${applied} applied`, effect: () => void table.write(request) });
  reply(giveUpMs, () => ({ kind: 'inDoubt' }));
}

const isSingle = ([first, ...more]: readonly Operation[]): boolean =>
  more.length === 0 && (first?.kind === 'put' || first?.kind === 'update');

function throttled(): never {
  throw new StoreThrottled('simulated');
}

function unavailable(): never {
  throw new StoreUnavailable('simulated');
}

/** What a write writes, for the names of crash points. */
export function writeSite(operations: readonly Operation[]): string {
  const kinds = operations.map((operation) => keyKind(operationKey(operation)));
  return `write ${kinds.length === 1 ? kinds[0] : [...new Set(kinds)].join('+')}`;
}

let latest: { readonly key: Key; readonly kind: string } | undefined;

/** The kind of an item, for the names of crash points. Every checker asks the same of each change. */
export function keyKind(key: Key): string {
  if (latest?.key !== key) latest = { key, kind: kindOf(key) };
  return latest.kind;
}

/** A claim or a beat. Who asks a run to leave writes into its RUN, too. */
export const isOfRun = ({ key, before, after }: Change): boolean =>
  keyKind(key) === 'RUN' && (['token', 'beat', 'beatAtMs'] as const).some((name) => before?.[name] !== after?.[name]);

function kindOf({ pk, sk }: Key): string {
  if (pk.startsWith('RUN#')) return 'RUN';
  if (pk === 'CHANGES' || pk === 'WEIGHT') return pk;
  if (pk.startsWith('E#')) return 'EVENT';
  if (sk === 'EPOCH') return sk;
  if (sk.startsWith('CHECKPOINT')) return 'CHECKPOINT';
  const [, , kind = sk] = sk.split('#');
  return kind;
}

export const getSite = (key: Key): string => `get ${keyKind(key)}`;
export const querySite = (query: Query): string => `query ${queryKind(query)}`;

function queryKind({ pk, from }: Query): string {
  if (pk.startsWith('E#')) return 'EVENT';
  if (!pk.startsWith('B#')) return pk;
  if (from === undefined) return 'bucket';
  return from.length <= 4 ? 'slice' : 'target';
}
