/** The status report for a target with lifecycle `reported`, sent by the process that runs its containers. */
import * as z from 'zod';
import { targetAddress } from '../../store/records/keys.ts';
import { manifestMediaTypes, readBody } from '../http/body.ts';
import { problemResponse } from '../http/problem.ts';
import { dryRunParam, readFlag } from '../http/query-params.ts';
import { type Handler, type Route, targetNameOf, targetParams, targetPath } from '../route.ts';
import { decodeStatusReport, statusReportSchema } from '../schema/status-report.ts';
import { answerChange, targetAnswer } from '../targets/answer-target.ts';
import { changeTarget } from '../targets/change-target.ts';
import { planReport } from '../targets/report-plan.ts';

const putStatus: Handler = async (request, deps) => {
  const { namespace, name } = targetNameOf(request);
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const body = await readBody(request.raw, manifestMediaTypes, { deps });
  if (body.kind === 'problem') return problemResponse(body);
  const decoded = decodeStatusReport(body.value);
  if (decoded.kind === 'problem') return problemResponse(decoded);
  const address = targetAddress(namespace, name);
  const plan = planReport(address, decoded.value.report, deps.clock.nowMs());
  const outcome = await changeTarget(deps, { address, plan, reason: 'StatusReported', dryRun: dryRun.value });
  return answerChange(deps, outcome, { status: 200, ignored: decoded.value.ignored });
};

export const statusRoutes: readonly Route[] = [
  {
    method: 'put',
    path: `${targetPath}/status`,
    summary: 'Reports the state of the containers of a target with lifecycle reported. Idempotent',
    params: targetParams,
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: statusReportSchema, required: true },
    answers: { 200: targetAnswer('Taken; the answer shows the status that follows from it.') },
    problems: [404, 409, 413, 415, 422],
    handle: putStatus,
  },
];
