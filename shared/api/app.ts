/**
 * The API as one function from Request to Response. It knows no server: Node's and the HTTP API of AWS both call
 * `fetch`.
 */
import { OpenAPIRegistry } from '@asteasolutions/zod-to-openapi';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import type { ApiDeps } from './deps.ts';
import { bearerToken } from './http/bearer-token.ts';
import { ClientGone, problemOfError } from './http/failure.ts';
import { refusedParameters } from './http/known-parameters.ts';
import { jsonTextResponse, type Problem, problem, problemResponse } from './http/problem.ts';
import { document, openApiDocument } from './openapi.ts';
import type { Route } from './route.ts';
import { applyRoutes } from './routes/apply.ts';
import { applyLinesRoutes } from './routes/apply-lines.ts';
import { desiredRoutes } from './routes/desired.ts';
import { eventRoutes } from './routes/events.ts';
import { healthRoute, metricsRoute } from './routes/operations.ts';
import { probeRoutes } from './routes/probe.ts';
import { proberRoutes } from './routes/prober.ts';
import { restartedRoutes } from './routes/restarted.ts';
import { statusRoutes } from './routes/status.ts';
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
  ...statusRoutes,
  ...restartedRoutes,
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
      const refused = (route.anonymous ? undefined : refuse(request.raw)) ?? refusedParameters(route, request.query);
      return refused ? problemResponse(refused) : route.handle(request, whileThere(request.raw, deps));
    });
  }
  for (const path of new Set(described.map(honoPath)))
    app.all(path, () => problemResponse(methodNotAllowed(described, path)));
  app.notFound(() => problemResponse(problem(404, 'no-such-route', 'There is nothing at this path.')));
  app.onError((error) => problemResponse(problemOfError(deps, error)));
  return { fetch: async (request) => app.fetch(request) };
}

/** A request whose client has gone ends where it would wait for its next piece of work. */
function whileThere(request: Request, deps: ApiDeps): ApiDeps {
  const { pause, admit } = deps;
  if (!pause) return deps;
  const unlessGone = async (waited: Promise<void>) => {
    await waited;
    if (request.signal.aborted) throw new ClientGone();
  };
  return { ...deps, pause: () => unlessGone(pause()), ...(admit && { admit: () => unlessGone(admit(request)) }) };
}

const honoPath = ({ path }: Pick<Route, 'path'>): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

function apiRequest(context: Context) {
  return { raw: context.req.raw, params: context.req.param(), query: new URL(context.req.url).searchParams };
}

function methodNotAllowed(described: readonly Route[], path: string): Problem {
  const methods = described.filter((route) => honoPath(route) === path).map(({ method }) => method.toUpperCase());
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
  return { ...problem(405, 'method-not-allowed', `Here one can ${allow}.`), headers: { allow } };
}

/** The document is made once, since that takes as long as many requests. */
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
