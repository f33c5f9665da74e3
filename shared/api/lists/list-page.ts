/**
 * One page of a list of targets, and the token for the rest.
 *
 * The table has one order, by bucket and name, and no index for another one: an index would cost a write for every
 * change of a result. So a page in the table's order is a scan from the token's position until the page is full. A
 * sorted page reads all targets and keeps the candidates that the page may need; the token is the sort key of its last
 * target. That works for a table of at most `scannedMax` targets; a larger one is listed in its own order, and the
 * answer says so.
 */
import { specProbes } from '../../core/spec/spec.ts';
import { pacer, sliceMs } from '../../lib/slices.ts';
import { type Problem, problem } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import type { StoredTarget } from '../targets/stored-target.ts';
import { type Position, scanTargets } from './scan.ts';

export type PageQuery = {
  /** If absent, all namespaces. */
  readonly namespace?: string | undefined;
  readonly matches: (stored: StoredTarget) => boolean | Promise<boolean>;
  /** The target as the answer has it, as JSON. */
  readonly textOf: (stored: StoredTarget) => Promise<string>;
  readonly limit: number;
  readonly order: 'table' | SortOrder;
  readonly from?: Place;
};

/** The target after which the page begins. */
export type Place =
  | { readonly kind: 'position'; readonly position: Position }
  | { readonly kind: 'key'; readonly key: SortKey };

export type Page = {
  readonly kind: 'page';
  readonly texts: readonly string[];
  /** Token for the rest; undefined: there is none. */
  readonly more: string | undefined;
  readonly order: 'table' | SortOrder;
};

/** Targets read for one page. A filter with few matches gets a page that is not full, and a token. */
export const scannedMax = 10_000;
/** An HTTP API times out after 30 s, and a sorted list that cannot be sorted is read a second time. */
const scanMsMax = 10_000;

/** 410: the list was sorted, and the table has grown too large since. */
export async function readPage(deps: ApiDeps, query: PageQuery): Promise<Page | Problem> {
  const { order, from } = query;
  if (order === 'table' || from?.kind === 'position') return tablePage(deps, query);
  const sorted = await sortedPage(deps, query, order);
  if (sorted) return sorted;
  return from ? noLongerSorted : tablePage(deps, query);
}

const noLongerSorted = problem(
  410,
  'gone',
  `There are more than ${scannedMax} targets now, or reading them takes longer than ${scanMsMax} ms: too many to sort. Ask for the list again without continue.`,
);

/** Bytes of JSON: a Lambda answer is limited to 6 MB, in which every quotation mark counts twice. */
const pageBytesMax = 3_000_000;

/**
 * The texts of a page. Each is made when its target has been read, so that what was read need not stay in memory until
 * the page is complete, which costs more in collections than reading it.
 */
class PageTexts {
  readonly texts: string[] = [];
  #last: () => string | undefined = () => undefined;
  readonly #query: PageQuery;
  #bytes = 0;

  constructor(query: PageQuery) {
    this.#query = query;
  }

  /** Continues after the last target of the page. */
  get token(): string | undefined {
    return this.#last();
  }

  /** `token`: continues after the target. Returns false if the page is full without it; it has at least one. */
  async add(stored: StoredTarget, token: () => string): Promise<boolean> {
    const { limit, textOf } = this.#query;
    if (this.texts.length === limit) return false;
    const text = await textOf(stored);
    this.#bytes += Buffer.byteLength(text);
    if (this.texts.length > 0 && this.#bytes > pageBytesMax) return false;
    this.texts.push(text);
    this.#last = token;
    return true;
  }
}

/** Looks for one match beyond the limit, so that a token is given only if something is left. */
async function tablePage(deps: ApiDeps, query: PageQuery): Promise<Page> {
  const { namespace, matches, from } = query;
  const found = new PageTexts(query);
  const page = (more: string | undefined): Page => ({ kind: 'page', texts: found.texts, more, order: 'table' });
  const isOver = scanBudget(deps);
  let last: Position | undefined;
  const after = from?.kind === 'position' ? from.position : undefined;
  for await (const { stored, position } of scanTargets(deps, { namespace, from: after })) {
    // After at least one target, so that every page makes progress.
    if ((await isOver()) && last !== undefined) return page(continueToken(last));
    last = position;
    if (!stored || !(await matches(stored))) continue;
    if (!(await found.add(stored, () => continueToken(position)))) return page(found.token);
  }
  return page(undefined);
}

type Candidate = { readonly stored: StoredTarget; readonly key: SortKey };

/** Keeps no more than the page may need. undefined: there are too many targets to sort. */
async function sortedPage(deps: ApiDeps, query: PageQuery, order: SortOrder): Promise<Page | undefined> {
  const { namespace, matches, limit, from } = query;
  let candidates: Candidate[] = [];
  const first = () => candidates.sort((a, b) => compareKeys(a.key, b.key)).slice(0, limit + 1);
  const isOver = scanBudget(deps);
  for await (const { stored } of scanTargets(deps, { namespace })) {
    if (await isOver()) return undefined;
    if (!stored) continue;
    const key = sortKeyOf(order, stored);
    const isBefore = from?.kind === 'key' && compareKeys(key, from.key) <= 0;
    if (isBefore || !(await matches(stored))) continue;
    candidates.push({ stored, key });
    if (candidates.length > 2 * (limit + 1)) candidates = first();
  }
  const found = new PageTexts(query);
  for (const { stored, key } of first()) {
    await deps.pause?.();
    if (!(await found.add(stored, () => sortedToken(order, key))))
      return { kind: 'page', texts: found.texts, more: found.token, order };
  }
  return { kind: 'page', texts: found.texts, more: undefined, order };
}

/**
 * Called once for each target: whether it exceeds the limit, or the time is up. It also pauses, so that a long list
 * does not delay a prober in the same process.
 */
function scanBudget({ clock, pause }: ApiDeps): () => Promise<boolean> {
  const endMs = clock.monotonicMs() + scanMsMax;
  const pace = pause ?? pacer(clock, sliceMs);
  let scanned = 0;
  return async () => {
    await pace();
    scanned += 1;
    return scanned > scannedMax || clock.monotonicMs() > endMs;
  };
}

export const sortOrders = ['name', 'lastChange'] as const;

export type SortOrder = (typeof sortOrders)[number];

/** The position of a target in an order, unique among the targets of one moment. */
export type SortKey = { readonly changedMs: number; readonly name: string; readonly namespace: string };

export function sortKeyOf(order: SortOrder, stored: StoredTarget): SortKey {
  const { name, namespace } = stored.target;
  return { changedMs: order === 'lastChange' ? lastChangeMs(stored) : 0, name, namespace };
}

/** Newest change first, then by name, then by namespace. */
export function compareKeys(a: SortKey, b: SortKey): number {
  return b.changedMs - a.changedMs || compareTexts(a.name, b.name) || compareTexts(a.namespace, b.namespace);
}

/** Code unit by code unit, so the same on every machine. */
function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** When the result of any probe last changed, as `status.probes[].since` shows it; 0: no probe has a result yet. */
function lastChangeMs({ target, probes }: StoredTarget): number {
  return specProbes(target.spec).reduce((latest, { name }) => {
    const record = probes[name];
    return record && record.version > 0 ? Math.max(latest, record.sinceMs) : latest;
  }, 0);
}

// Tokens for the rest of a list. They are opaque and name a position, so targets that are added or removed in between
// do no harm.

const version = 1;

const encoded = (parts: readonly unknown[]): string =>
  Buffer.from(JSON.stringify([version, ...parts])).toString('base64url');

/** undefined: not a token of this release. */
function decoded(token: string): readonly unknown[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    return Array.isArray(parts) && parts[0] === version ? parts.slice(1) : undefined;
  } catch {
    return undefined;
  }
}

/** `of`: the only request that it continues; empty: any request. */
export const continueToken = ({ bucket, after }: Position, of = ''): string => encoded([bucket, after, of]);

/** undefined: not a token of this release, or of another request. */
export function readContinueToken(token: string, of = ''): Position | undefined {
  const [bucket, after, tokenOf = ''] = decoded(token) ?? [];
  const valid = tokenOf === of && typeof bucket === 'string' && /^[0-9a-f]{2}$/.test(bucket);
  return valid && typeof after === 'string' && after !== '' ? { bucket, after } : undefined;
}

/** Token of a sorted list: the key of the last item. */
export const sortedToken = (order: SortOrder, { changedMs, name, namespace }: SortKey): string =>
  encoded([order, changedMs, name, namespace]);

/** undefined: not a token of this release, or of another order. */
export function readSortedToken(token: string, order: SortOrder): SortKey | undefined {
  const [tokenOrder, changedMs, name, namespace] = decoded(token) ?? [];
  const valid = tokenOrder === order && typeof changedMs === 'number' && Number.isFinite(changedMs);
  return valid && typeof name === 'string' && typeof namespace === 'string'
    ? { changedMs, name, namespace }
    : undefined;
}
