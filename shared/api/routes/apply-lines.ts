/**
 * Thousands of targets of any namespaces in one request, one a line. Each line is stored as by `PUT …/targets/{name}`
 * and gets its own line of answer, while the body still arrives. Targets that the body does not name stay unchanged.
 */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { type MediaTypes, streamedBody } from '../http/body.ts';
import { bodyLines } from '../http/body-lines.ts';
import { dryRunParam, readFlag } from '../http/parameters.ts';
import { everywhere, problemResponse, problemSchema } from '../http/problem.ts';
import type { Handler, Route } from '../ports/route.ts';
import { manifestSchema } from '../schema/manifest-schema.ts';
import { appliedLines } from '../targets/apply-lines.ts';
import { manifestChanges } from '../targets/put-manifest.ts';
import { conditionalProblem } from './apply.ts';

/** As many targets as one process is meant for. */
export const applyLinesMax = 10_000;
/** On AWS less arrives: API Gateway and Lambda allow about 4 MB. */
export const applyLinesBytesMax = 16 * 1024 * 1024;

const mediaType = 'application/x-ndjson';
const mediaTypes: MediaTypes = { [mediaType]: 'json' };
/** A proxy that buffers the answer would hide the progress of the request. */
const headers = { 'content-type': mediaType, 'x-accel-buffering': 'no', ...everywhere };

const appliedLineSchema = z
  .object({
    line: z.int().openapi({ description: 'Number of the line in the body, from 1; blank lines count.' }),
    namespace: z.string().optional(),
    name: z.string().optional(),
    status: z.int().openapi({ description: 'The status that a PUT of this manifest alone would have.' }),
    change: z.enum(manifestChanges).optional().openapi({ description: 'What was done; absent with a problem.' }),
    warning: z.string().optional().openapi({ description: 'As the header of a PUT of this manifest alone.' }),
    problem: problemSchema.optional().openapi({ description: 'Its pointers are relative to the line.' }),
  })
  .openapi('AppliedLine', { description: 'One line of the answer. The lines are in the order of the body.' });

const putLines: Handler = async ({ raw, query }, deps) => {
  const dryRun = readFlag(query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const conditional = conditionalProblem(raw.headers);
  if (conditional) return problemResponse(conditional);
  const body = streamedBody(raw, mediaTypes, applyLinesBytesMax);
  if (body.kind === 'problem') return problemResponse(body);
  const lines = bodyLines(body.value ?? none(), applyLinesBytesMax, applyLinesMax);
  return new Response(appliedLines(deps, lines, dryRun.value), { headers });
};

async function* none(): AsyncGenerator<never> {}

export const applyLinesRoutes: readonly Route[] = [
  {
    method: 'put',
    path: '/v1/targets:apply',
    summary: 'Registers or replaces the target of each line, and leaves all others as they are. Idempotent',
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: [mediaType], schema: manifestSchema, required: true },
    answers: { 200: { description: 'The outcome of each line.', mediaType, schema: appliedLineSchema } },
    problems: [413, 415],
    handle: putLines,
  },
];
