/**
 * The API as one function from Request to Response. It knows no server: Node's and the HTTP API of AWS both call
 * `fetch`.
 */

import { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { bearerToken } from './http/bearer-token.ts';
import { ClientGone, problemOfError } from './http/failure.ts';
import { refusedParameters } from './http/parameters.ts';
import { jsonTextResponse, type Problem, problem, problemResponse } from './http/problem.ts';
import type { ApiDeps } from './ports/deps.ts';
import type { Route } from './ports/route.ts';
import { applyRoutes } from './routes/apply.ts';
import { applyLinesRoutes } from './routes/apply-lines.ts';
import { desiredRoutes } from './routes/desired.ts';
import { eventRoutes } from './routes/events.ts';
import { document, openApiDocument } from './routes/openapi.ts';
import { healthRoute, metricsRoute } from './routes/operations.ts';
import { probeRoutes } from './routes/probe.ts';
import { proberRoutes } from './routes/prober.ts';
import { reportRoutes } from './routes/reports.ts';
import { targetRoutes } from './routes/target.ts';
import { targetCreateRoutes } from './routes/target-create.ts';
import { targetListRoutes } from './routes/target-list.ts';
import { watchRoute } from './routes/watch.ts';

export type ApiApp = { readonly fetch: (request: Request) => Promise<Response> };

const openApiPath = '/openapi.json';

const routes = ({ metrics, watch, watchersMax }: ApiDeps): readonly Route[] => [
  healthRoute,
  ...(metrics ? [metricsRoute(metrics)] : []),
  ...targetListRoutes,
  ...targetCreateRoutes,
  ...applyRoutes,
  ...applyLinesRoutes,
  ...targetRoutes,
  ...reportRoutes,
  ...probeRoutes,
  ...desiredRoutes,
  ...eventRoutes,
  ...proberRoutes,
  ...(watch ? [watchRoute(watch, watchersMax)] : []),
];

export function apiApp(deps: ApiDeps): ApiApp {
  const app = new Hono();
  const registry = new OpenAPIRegistry();
  const asks = deps.token !== undefined;
  const described: readonly Route[] = [...routes(deps), openApiRoute(() => openApiDocument(registry, asks))];
  const refuse = deps.token === undefined ? () => undefined : bearerToken(deps.token);
  for (const route of described) {
    document(registry, route, asks);
    app.on(route.method.toUpperCase(), honoPath(route), async (context) => {
      const request = apiRequest(context);
      const known = Object.keys(route.query?.shape ?? {});
      const refused = (route.anonymous ? undefined : refuse(request.raw)) ?? refusedParameters(request.query, known);
      return refused ? problemResponse(refused) : route.handle(request, whileThere(request.raw, deps));
    });
  }
  for (const path of new Set(described.map(honoPath)))
    app.all(path, () => problemResponse(methodNotAllowed(described, path)));
  app.notFound(() => problemResponse(problem(404, 'no-such-route', 'There is nothing at this path.')));
  app.onError((error) => problemResponse(problemOfError(deps.log, error)));
  return { fetch: async (request) => app.fetch(request) };
}

/** Ends a request whose client has gone where it would wait for its next piece of work. */
function whileThere(request: Request, deps: ApiDeps): ApiDeps {
  const { pause, admit } = deps;
  if (!pause) return deps;
  const unlessGone = async (waited: Promise<void>) => {
    await waited;
    if (request.signal.aborted) throw new ClientGone();
  };
  return { ...deps, pause: () => unlessGone(pause()), ...(admit && { admit: () => unlessGone(admit(request)) }) };
}

const honoPath = ({ path }: Route): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

function apiRequest(context: Context) {
  return { raw: context.req.raw, params: context.req.param(), query: new URL(context.req.url).searchParams };
}

function methodNotAllowed(described: readonly Route[], path: string): Problem {
  const methods = described.filter((route) => honoPath(route) === path).map(({ method }) => method.toUpperCase());
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return { ...problem(405, 'method-not-allowed', `This path allows ${allow}.`), headers: { allow } };
}

/** Makes the document once: it costs as much as many requests. */
function openApiRoute(documentOf: () => unknown): Route {
  let text: string | undefined;
  return {
    method: 'get',
    path: openApiPath,
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.object({}).catchall(z.unknown()) } },
    problems: [],
    handle: async () => {
      text ??= JSON.stringify(documentOf());
      return jsonTextResponse(200, text);
    },
  };
}
