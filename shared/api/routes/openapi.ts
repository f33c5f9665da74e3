/** The OpenAPI 3.1 document, derived from the routes and their zod schemas. */
import '../http/zod-openapi.ts';
import { type OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi';
import type * as z from 'zod';
import { type ProblemStatus, problemMediaType, problemSchema, problemTitles } from '../http/problem.ts';
import type { Answer, Route } from '../ports/route.ts';

/** 400: every route refuses query parameters that it does not have. */
const anyRoute: readonly ProblemStatus[] = [400, 500, 503];

/** A body may arrive so slowly that `npm start` does not wait for its end. */
const lateBody: readonly ProblemStatus[] = [408];

const bearerScheme = 'bearer';

/**
 * Writes one route into the document. `asks`: whether the app authenticates its callers; otherwise the server in front
 * of it does.
 */
export function document(registry: OpenAPIRegistry, route: Route, asks: boolean): void {
  const { params, query, headers, body } = route;
  registry.registerPath({
    method: route.method,
    path: route.path,
    summary: route.summary,
    ...(asks && { security: route.anonymous ? [] : [{ [bearerScheme]: [] }] }),
    request: {
      ...(params && { params }),
      ...(query && { query }),
      ...(headers && { headers }),
      ...(body && { body: { required: body.required, content: contentOf(body.mediaTypes, body.schema) } }),
    },
    responses: { ...answersOf(route), ...problemsOf(route) },
  });
}

const contentOf = (mediaTypes: readonly string[], schema: z.ZodType) =>
  Object.fromEntries(mediaTypes.map((mediaType) => [mediaType, { schema }]));

function answersOf({ answers }: Route) {
  return Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)]));
}

function answerOf({ description, mediaType = 'application/json', schema, headers = {} }: Answer) {
  const documented = Object.entries(headers).map(([name, text]) => [
    name,
    { description: text, schema: { type: 'string' as const } },
  ]);
  return {
    description,
    content: { [mediaType]: { schema } },
    ...(documented.length > 0 && { headers: Object.fromEntries(documented) }),
  };
}

/** A status with its own answer may also be a problem. */
function problemsOf({ problems, anonymous, answers, body }: Route) {
  const statuses: readonly ProblemStatus[] = [
    ...problems,
    ...(anonymous ? [] : [401 as const]),
    ...(body ? lateBody : []),
    ...anyRoute,
  ];
  const content = { [problemMediaType]: { schema: problemSchema } };
  return Object.fromEntries(
    statuses.map((status) => {
      const answer = answers[status] && answerOf(answers[status]);
      return [status, { description: problemTitles[status], ...answer, content: { ...answer?.content, ...content } }];
    }),
  );
}

/** The whole document, once it contains every route. */
export function openApiDocument(registry: OpenAPIRegistry, asks: boolean) {
  if (asks) registry.registerComponent('securitySchemes', bearerScheme, { type: 'http', scheme: 'bearer' });
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: 'probelet', version: '1', description: 'Register targets and read what their probes say.' },
  });
}
