/** The list of targets, in the order of the table. */
import '../zod-openapi.ts';
import * as z from 'zod';
import { targetAddress } from '../../store/keys.ts';
import { continueToken, readContinueToken } from '../continue-token.ts';
import type { ApiDeps } from '../deps.ts';
import { freshnessReader } from '../freshness.ts';
import { parseLabelSelector } from '../label-selector.ts';
import { type Checked, invalidParameters, jsonResponse, ok, problemResponse } from '../problem.ts';
import { readWhole, wholeParam } from '../query-params.ts';
import { type ApiRequest, type Handler, namespaceParams, type Route, targetsPath } from '../route.ts';
import { type Position, type ScannedTarget, scanTargets } from '../scan.ts';
import type { StoredTarget } from '../stored-target.ts';
import { type TargetView, targetListSchema } from '../target-schema.ts';
import { targetView } from '../target-view.ts';

const limitRange = { min: 1, max: 500 };
const limitDefault = 100;
/** Targets looked at for one answer; a selector that matches few gets a short page and a token. */
const scannedMax = 5_000;
/** Bytes of JSON: Lambda answers with 6 MB at most, in which every quotation mark counts twice. */
const pageBytesMax = 3_000_000;

type ListQuery = {
  readonly matches: (stored: StoredTarget) => boolean;
  readonly limit: number;
  readonly from: Position | undefined;
};

const list: Handler = async (request, deps) => {
  const query = readListQuery(request);
  if (query.kind === 'problem') return problemResponse(query);
  const page = await readPage(deps, query.value);
  const views = await viewsOf(deps, page.found);
  const items = views.slice(0, fitting(views));
  const more = items.length < views.length ? page.found[items.length - 1]?.position : page.more;
  const metadata = more ? { continue: continueToken(more) } : {};
  return jsonResponse(200, { apiVersion: 'probelet.dev/v1', kind: 'TargetList', metadata, items });
};

function readListQuery({ query, params }: ApiRequest): Checked<ListQuery> {
  const limit = readWhole(query, 'limit', limitRange);
  if (limit.kind === 'problem') return limit;
  const selector = parseLabelSelector(query.get('labelSelector') ?? '');
  if (selector.kind === 'invalid') return invalidParameters([{ parameter: 'labelSelector', detail: selector.reason }]);
  const token = query.get('continue') ?? '';
  const from = token === '' ? undefined : readContinueToken(token);
  if (token !== '' && !from)
    return invalidParameters([{ parameter: 'continue', detail: 'must be a token from an earlier answer' }]);
  const namespace = params.namespace ?? query.get('namespace') ?? '';
  const matches = ({ target }: StoredTarget) =>
    (namespace === '' || target.namespace === namespace) && selector.matches(target.labels);
  return ok({ matches, limit: limit.value ?? limitDefault, from });
}

type Page = { readonly found: readonly ScannedTarget[]; readonly more: Position | undefined };

/** One match beyond the limit is looked for, so that a token is given only where there is something left. */
async function readPage(deps: ApiDeps, { matches, limit, from }: ListQuery): Promise<Page> {
  const found: ScannedTarget[] = [];
  let scanned = 0;
  for await (const each of scanTargets(deps, from)) {
    scanned += 1;
    if (matches(each.stored)) {
      if (found.length === limit) return { found, more: found.at(-1)?.position };
      found.push(each);
    }
    if (scanned >= scannedMax) return { found, more: each.position };
  }
  return { found, more: undefined };
}

/** How many of them one answer has room for, at least one. */
function fitting(views: readonly TargetView[]): number {
  let bytes = 0;
  const beyond = views.findIndex((view, at) => {
    bytes += Buffer.byteLength(JSON.stringify(view));
    return at > 0 && bytes > pageBytesMax;
  });
  return beyond < 0 ? views.length : beyond;
}

function viewsOf(deps: ApiDeps, found: readonly ScannedTarget[]): Promise<readonly TargetView[]> {
  const freshnessOf = freshnessReader(deps);
  const nowMs = deps.clock.nowMs();
  const view = async ({ stored }: ScannedTarget) => {
    const { namespace, name } = stored.target;
    return targetView(stored, { freshness: await freshnessOf(targetAddress(namespace, name).bucket), nowMs });
  };
  return Promise.all(found.map(view));
}

const query = z.object({
  labelSelector: z
    .string()
    .optional()
    .openapi({ description: 'As in Kubernetes: a=b,c!=d,e in (f,g),h notin (i),j,!k' }),
  limit: wholeParam(limitRange, `At most so many; ${limitDefault} by default.`),
  continue: z.string().optional().openapi({ description: 'The token of the answer before.' }),
});

const listing = {
  method: 'get',
  answers: { 200: { description: 'The targets, and a token if there are more.', schema: targetListSchema } },
  problems: [],
  handle: list,
} as const;

export const targetListRoutes: readonly Route[] = [
  {
    ...listing,
    path: '/v1/targets',
    summary: 'Targets with their status',
    query: z.object({ namespace: z.string().optional(), ...query.shape }),
  },
  {
    ...listing,
    path: targetsPath,
    summary: 'The targets of a namespace with their status',
    params: namespaceParams,
    query,
  },
];
