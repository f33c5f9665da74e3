/** The parts of each answer that the client needs, how an answer becomes a value, and what several operations share. */
import * as z from 'zod';
import { type ApiCall, askJson, foreign, isApiProblem, type JsonAnswer, type RequestDeps } from './requests.ts';

export const targetShape = z.looseObject({
  metadata: z.looseObject({ namespace: z.string(), name: z.string(), creationTimestamp: z.string() }),
  spec: z.looseObject({ containers: z.array(z.unknown()), initContainers: z.array(z.unknown()) }),
  status: z.looseObject({
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string() })),
    containerStatuses: z.array(z.looseObject({ name: z.string() })),
    initContainerStatuses: z.array(z.looseObject({ name: z.string() })),
    probes: z.array(z.looseObject({ container: z.string(), result: z.string(), since: z.string() })),
  }),
});
export const listShape = z.looseObject({
  metadata: z.looseObject({ continue: z.string().optional() }),
  items: z.array(targetShape),
});
export const eventsShape = z.looseObject({ items: z.array(z.looseObject({ time: z.string(), reason: z.string() })) });
export const appliedShape = z.looseObject({ items: z.array(z.looseObject({ status: z.int() })) });
export const probedShape = z.looseObject({ probes: z.array(z.looseObject({ container: z.string() })) });
export const openapiShape = z.looseObject({
  info: z.looseObject({ title: z.literal('probelet'), version: z.string() }),
});
export const healthShape = z.looseObject({ status: z.string(), notMonitored: z.number().optional() });
export const proberShape = z.looseObject({
  release: z.looseObject({ desired: z.string().optional() }),
  shards: z.array(z.looseObject({ shard: z.string() })),
});
export const cleanedShape = z.looseObject({
  kept: z.array(z.string()),
  removed: z.array(z.string()),
  terminating: z.array(z.string()),
  continue: z.string().optional(),
});

/** What the headers of an answer say. Not a field, so that it is not printed. */
export const answerMark = Symbol('mark');
type Mark = Omit<JsonAnswer, 'body'>;
export type WithMark = { readonly [answerMark]: Mark };

/** The answer to a request that cannot be about something that does not exist. @throws ClientError */
export const need = async <Value>(deps: RequestDeps, shape: z.ZodType, call: ApiCall): Promise<Value & WithMark> =>
  shaped<Value>(deps, shape, await askJson(deps, call));

/** The status 404 is undefined: what is asked for does not exist. @throws ClientError */
export async function read<Value>(
  deps: RequestDeps,
  shape: z.ZodType,
  call: ApiCall,
): Promise<(Value & WithMark) | undefined> {
  const answer = await askJson(deps, { ...call, accepts: [404] });
  return answer.status === 404 ? missing(deps, answer) : shaped<Value>(deps, shape, answer);
}

/** Only the API's own 404 says that there is no such target: one of another server has no problem document. */
function missing({ url }: RequestDeps, { body }: JsonAnswer): undefined {
  if (!isApiProblem(body)) throw foreign(url, 'has the status 404 without a problem');
}

/** @throws ClientError if the answer lacks what the shape has */
export function shaped<Value>({ url }: RequestDeps, shape: z.ZodType, answer: JsonAnswer): Value & WithMark {
  const { body, ...mark } = answer;
  const checked = shape.safeParse(body);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    throw foreign(url, `lacks ${issue?.path.join('.') ?? 'its fields'}`);
  }
  return { ...(body as Value), [answerMark]: mark };
}

export type NamedTarget = { readonly namespace: string; readonly name: string };

export const dryRunOf = (dryRun: boolean) => (dryRun ? { dryRun: 'true' } : {});

export const namespacePathOf = (namespace: string): string => `/v1/namespaces/${encodeURIComponent(namespace)}`;
export const targetsPathOf = (namespace: string): string => `${namespacePathOf(namespace)}/targets`;
export const targetPathOf = ({ namespace, name }: NamedTarget): string =>
  `${targetsPathOf(namespace)}/${encodeURIComponent(name)}`;

/** Pages of one list, or parts of one answer. What has more has no end. */
export const pagesMax = 100_000;
