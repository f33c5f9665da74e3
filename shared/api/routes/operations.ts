/** What operates the service: health and metrics. */
import '../zod-openapi.ts';
import * as z from 'zod';
import { everywhere, jsonResponse } from '../problem.ts';
import type { Handler, Route } from '../route.ts';

const healthSchema = z
  .object({
    status: z.enum(['ok', 'failing']),
    quarantined: z.array(z.object({ pk: z.string(), sk: z.string(), detail: z.string() })).openapi({
      description: 'Items of the store that cannot be read and are left alone.',
    }),
  })
  .catchall(z.unknown())
  .openapi('Health');

const healthz: Handler = async (_, deps) => {
  const { ok, quarantined, details } = await deps.health();
  const items = quarantined.map(({ key, detail }) => ({ pk: key.pk, sk: key.sk, detail }));
  return jsonResponse(ok ? 200 : 503, { ...details, status: ok ? 'ok' : 'failing', quarantined: items });
};

const metricsMediaType = 'text/plain; version=0.0.4; charset=utf-8';

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

export const metricsRoute = (text: () => Promise<string>): Route => ({
  method: 'get',
  path: '/metrics',
  summary: 'Metrics under kubelet’s names, in Prometheus’ text format',
  answers: { 200: { description: 'The metrics.', mediaType: 'text/plain', schema: z.string() } },
  problems: [],
  handle: async () => metricsResponse(await text()),
});

/** Of a text in Prometheus' format. */
export const metricsResponse = (text: string): Response =>
  new Response(text, { headers: { 'content-type': metricsMediaType, ...everywhere } });
