/** Many manifests of any namespaces in one request, one a line. */
import * as z from 'zod';
import type { AppliedLine } from '../../shared/api/targets/apply-lines.ts';
import { dryRunOf } from './paths.ts';
import { askText, foreign, isApiProblem, isGatewayAnswer, parsedJson, type RequestDeps } from './requests.ts';

/** Each manifest names its target by `metadata.namespace` and `metadata.name`. */
export type ManifestLines = { readonly manifests: readonly unknown[]; readonly dryRun?: boolean };

const mediaType = 'application/x-ndjson';
const lineShape = z.looseObject({ line: z.int(), status: z.int() });
/** A server or a deployment of an older release, or a policy of AWS that names the other routes only. */
const absentStatuses: readonly number[] = [403, 404, 405];

/**
 * In the order of the manifests; undefined: the server has no such route for this caller.
 *
 * @throws ClientError
 */
export async function applyLines(
  deps: RequestDeps,
  { manifests, dryRun = false }: ManifestLines,
): Promise<readonly AppliedLine[] | undefined> {
  const { status, type, text } = await askText(deps, {
    method: 'PUT',
    path: '/v1/targets:apply',
    query: dryRunOf(dryRun),
    headers: { 'content-type': mediaType, accept: `${mediaType}, application/problem+json` },
    text: manifests.map((manifest) => `${JSON.stringify(manifest)}\n`).join(''),
    accepts: absentStatuses,
  });
  if (absentStatuses.includes(status)) {
    const body = parsedJson(type, text);
    if (isApiProblem(body) || isGatewayAnswer(body)) return undefined;
  }
  if (!type.startsWith(mediaType)) throw foreign(deps.url, `has the status ${status} and is ${type}`);
  const lines = text.split('\n').slice(0, -1);
  if (lines.length !== manifests.length) throw foreign(deps.url, `has ${lines.length} of ${manifests.length} lines`);
  return lines.map((line, index) => answered(deps, line, index + 1));
}

function answered({ url }: RequestDeps, text: string, number: number): AppliedLine {
  const checked = lineShape.safeParse(parsedJson('application/json', text));
  if (!checked.success || checked.data.line !== number) throw foreign(url, `lacks line ${number}`);
  return checked.data as AppliedLine;
}
