/** Routes for operating the service: health and metrics. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { jsonResponse } from '../http/problem.ts';
import type { ApiDeps, Health, ShardDoubt } from '../ports/deps.ts';
import type { Handler, Route } from '../ports/route.ts';
import { instantText } from '../targets/instant-text.ts';

const reason = z.object({ reason: z.string(), since: z.string().optional(), shard: z.string().optional() });
const reasons = z.array(reason).optional();
const overloadReasons = z.array(reason.extend({ socketsMax: z.number().optional() })).optional();

const healthSchema = z
  .object({
    status: z.enum(['ok', 'overloaded', 'degraded', 'failing']).openapi({
      description:
        'overloaded: the process works, but more probes are due than it can begin in time. degraded: its prober doubts itself, or shards have no holder.',
    }),
    degraded: reasons.openapi({ description: 'Why it is degraded.' }),
    overloaded: overloadReasons.openapi({
      description:
        'The resource that is short: Cpu or Sockets. socketsMax: descriptors that probes may hold, if the machine refused more.',
    }),
    quarantined: z.array(z.object({ pk: z.string(), sk: z.string(), detail: z.string() })).openapi({
      description: 'Quarantined items of the store, which cannot be read.',
    }),
  })
  .catchall(z.unknown())
  .openapi('Health');

const healthz: Handler = async (_, deps) => {
  const health = await deps.health();
  return jsonResponse(health.ok ? 200 : 503, healthView(health));
};

/** A process in doubt still answers 200: a restart would remove the process that notices when the doubt is over. */
export function healthView({ ok, quarantined, doubts = [], overloads = [], details }: Health) {
  const degraded = doubts.map(reasonView);
  const overloaded = overloads.map(reasonView);
  return {
    ...details,
    status: ok ? (degraded.length > 0 ? 'degraded' : overloaded.length > 0 ? 'overloaded' : 'ok') : 'failing',
    ...(degraded.length > 0 && { degraded }),
    ...(overloaded.length > 0 && { overloaded }),
    quarantined: quarantined.map(({ key, detail }) => ({ pk: key.pk, sk: key.sk, detail })),
  };
}

const reasonView = ({ sinceMs, ...reason }: ShardDoubt) => ({
  ...reason,
  ...(sinceMs !== undefined && { since: instantText(sinceMs) }),
});

export const healthRoute: Route = {
  method: 'get',
  path: '/healthz',
  summary: 'Whether this process works',
  answers: {
    200: { description: 'It works.', schema: healthSchema },
    503: { description: 'It does not, or not yet.', schema: healthSchema },
  },
  problems: [],
  anonymous: true,
  handle: healthz,
};

export const metricsRoute = (answer: NonNullable<ApiDeps['metrics']>): Route => ({
  method: 'get',
  path: '/metrics',
  summary: 'Metrics under kubelet’s names, in Prometheus’ text format',
  answers: { 200: { description: 'The metrics.', mediaType: 'text/plain', schema: z.string() } },
  problems: [],
  handle: async ({ raw }) => answer(raw),
});
