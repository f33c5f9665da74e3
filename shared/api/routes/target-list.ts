/** The list of targets: filtered, in pages, in the order of the table or sorted. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { readChoice, readWhole, wholeParam } from '../http/parameters.ts';
import { type Checked, invalidParameters, jsonTextResponse, ok, problemResponse } from '../http/problem.ts';
import { parseFieldSelector, selectableFields } from '../lists/field-selector.ts';
import { parseLabelSelector } from '../lists/label-selector.ts';
import {
  type PageQuery,
  type Place,
  readContinueToken,
  readPage,
  readSortedToken,
  type SortOrder,
  scannedMax,
  sortOrders,
} from '../lists/list-page.ts';
import { type ApiRequest, type Handler, namespaceParams, type Route, targetsPath } from '../ports/route.ts';
import { targetViewSchema } from '../schema/target-schema.ts';
import type { StoredTarget } from '../targets/stored-target.ts';
import { readyValues, type TargetViewer, targetViewer } from '../targets/target-viewer.ts';

const limitRange = { min: 1, max: 500 };
const limitDefault = 100;

const list: Handler = async (request, deps) => {
  const viewer = targetViewer(deps);
  const query = readListQuery(request, viewer);
  if (query.kind === 'problem') return problemResponse(query);
  const page = await readPage(deps, query.value);
  if (page.kind === 'problem') return problemResponse(page);
  const { texts, more, order } = page;
  const metadata = {
    ...(more !== undefined && { continue: more }),
    ...(query.value.order !== 'table' && { order }),
  };
  const head = JSON.stringify({ apiVersion: 'probelet.dev/v1', kind: 'TargetList', metadata });
  return jsonTextResponse(200, `${head.slice(0, -'}'.length)},"items":[${texts.join(',')}]}`);
};

function readListQuery(request: ApiRequest, viewer: TargetViewer): Checked<PageQuery> {
  const { query } = request;
  const limit = readWhole(query, 'limit', limitRange);
  if (limit.kind === 'problem') return limit;
  const namespace = request.params.namespace ?? (query.get('namespace') || undefined);
  const matches = readFilter(request, viewer);
  if (matches.kind === 'problem') return matches;
  const sortBy = readChoice(query, 'sortBy', sortOrders);
  if (sortBy.kind === 'problem') return sortBy;
  const token = query.get('continue') ?? '';
  const from = token === '' ? undefined : placeOf(token, sortBy.value);
  if (token !== '' && !from)
    return invalidParameters([{ parameter: 'continue', detail: 'must be a token from an answer to the same request' }]);
  const order = sortBy.value ?? 'table';
  return ok({
    namespace,
    matches: matches.value,
    textOf: async (stored) => JSON.stringify(await viewer.viewOf(stored)),
    limit: limit.value ?? limitDefault,
    order,
    ...(from && { from }),
  });
}

/** A list that was too large to sort continues in the order of the table. */
function placeOf(token: string, sortBy: SortOrder | undefined): Place | undefined {
  const key = sortBy && readSortedToken(token, sortBy);
  if (key) return { kind: 'key', key };
  const position = readContinueToken(token);
  return position && { kind: 'position', position };
}

/** All filters of the request together; those that need the freshness are applied last. */
function readFilter({ query }: ApiRequest, viewer: TargetViewer): Checked<PageQuery['matches']> {
  const labels = parseLabelSelector(query.get('labelSelector') ?? '');
  if (labels.kind === 'invalid') return invalidParameters([{ parameter: 'labelSelector', detail: labels.reason }]);
  const fields = parseFieldSelector(query.get('fieldSelector') ?? '');
  if (fields.kind === 'invalid') return invalidParameters([{ parameter: 'fieldSelector', detail: fields.reason }]);
  const ready = readChoice(query, 'ready', readyValues);
  if (ready.kind === 'problem') return ready;
  const isSelected = (stored: StoredTarget) => labels.matches(stored.target.labels) && fields.matches(stored);
  const { value } = ready;
  return ok(
    value === undefined ? isSelected : async (stored) => isSelected(stored) && (await viewer.readyOf(stored)) === value,
  );
}

const targetListSchema = z
  .object({
    apiVersion: z.literal('probelet.dev/v1'),
    kind: z.literal('TargetList'),
    metadata: z.object({
      continue: z.string().optional().openapi({ description: 'Ask for the rest with it; absent: this is all.' }),
      order: z
        .enum(['table', ...sortOrders])
        .optional()
        .openapi({
          description: 'With sortBy: how the items are sorted. table: there are too many targets to sort.',
        }),
    }),
    items: z.array(targetViewSchema),
  })
  .openapi('TargetList');

const query = z.object({
  labelSelector: z
    .string()
    .optional()
    .openapi({ description: 'As in Kubernetes: a=b,c!=d,e in (f,g),h notin (i),j,!k' }),
  fieldSelector: z
    .string()
    .optional()
    .openapi({ description: `As in Kubernetes: a=b,c==d,e!=f, of ${selectableFields.join(', ')}.` }),
  ready: z.enum(readyValues).optional().openapi({ description: 'By the condition Ready as it is shown.' }),
  sortBy: z
    .enum(sortOrders)
    .optional()
    .openapi({
      description: `lastChange: the targets whose probe results changed last come first. With more than ${scannedMax} targets they are not sorted; metadata.order says so.`,
    }),
  limit: wholeParam(limitRange, `At most this many; ${limitDefault} by default.`),
  continue: z.string().optional().openapi({ description: 'The token of the answer before.' }),
});

const listing = {
  method: 'get',
  answers: { 200: { description: 'The targets, and a token if there are more.', schema: targetListSchema } },
  problems: [410],
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
