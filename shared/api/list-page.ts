/** One page of a list of targets: in the table's order, or sorted if the table is small enough to be read whole. */
import { pacer } from '../lib/pace.ts';
import { continueToken, sortedToken } from './continue-token.ts';
import type { ApiDeps } from './deps.ts';
import { compareKeys, type SortKey, type SortOrder, sortKeyOf } from './list-order.ts';
import { type Problem, problem } from './problem.ts';
import { type Position, scanTargets } from './scan.ts';
import type { StoredTarget } from './stored-target.ts';

export type PageQuery = {
  /** If absent, all namespaces. */
  readonly namespace?: string | undefined;
  readonly matches: (stored: StoredTarget) => boolean | Promise<boolean>;
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
  /** `token`: continues after the target. */
  readonly found: readonly { readonly stored: StoredTarget; readonly token: string }[];
  /** Token for the rest; undefined: there is none. */
  readonly more: string | undefined;
  readonly order: 'table' | SortOrder;
};

/** Targets examined for one page. A filter with few matches gets a page that is not full, and a token. */
export const scannedMax = 10_000;
/** An HTTP API times out after 30 s, and a sorted list that cannot be sorted is read a second time. */
const scanMsMax = 10_000;
/**
 * Time for reading in one turn of the event loop: if the prober runs in the same process, a long list must not delay
 * it.
 */
const sliceMs = 5;

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

/** Looks for one match beyond the limit, so that a token is given only if something is left. */
async function tablePage(deps: ApiDeps, { namespace, matches, limit, from }: PageQuery): Promise<Page> {
  const found: Page['found'][number][] = [];
  const page = (more: string | undefined): Page => ({ kind: 'page', found, more, order: 'table' });
  const isOver = scanBudget(deps);
  let last: string | undefined;
  const after = from?.kind === 'position' ? from.position : undefined;
  for await (const { stored, position } of scanTargets(deps, { namespace, from: after })) {
    // After at least one target, so that every page makes progress.
    if ((await isOver()) && last !== undefined) return page(last);
    last = continueToken(position);
    if (!stored || !(await matches(stored))) continue;
    if (found.length === limit) return page(found.at(-1)?.token);
    found.push({ stored, token: last });
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
  const found = first().map(({ stored, key }) => ({ stored, token: sortedToken(order, key) }));
  const more = found.length > limit ? found[limit - 1]?.token : undefined;
  return { kind: 'page', found: found.slice(0, limit), more, order };
}

/** To be called once a target: whether the target exceeds the limit, or the time is up. */
function scanBudget({ clock }: ApiDeps): () => Promise<boolean> {
  const endMs = clock.monotonicMs() + scanMsMax;
  const pace = pacer(clock, sliceMs);
  let scanned = 0;
  return async () => {
    await pace();
    scanned += 1;
    return scanned > scannedMax || clock.monotonicMs() > endMs;
  };
}
