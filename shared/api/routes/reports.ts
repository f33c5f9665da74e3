/**
 * Reports on the containers of a target, by lifecycle. `reported`: the process that runs them sends their status.
 * `static`: only a restart is reported.
 */
import * as z from 'zod';
import '../http/zod-openapi.ts';
import { targetAddress } from '../../store/records/keys.ts';
import { manifestMediaTypes, readBody, readOptionalBody } from '../http/body.ts';
import { dryRunParam, readFlag } from '../http/parameters.ts';
import { problemResponse } from '../http/problem.ts';
import { type Handler, type Route, targetNameOf, targetParams, targetPath } from '../ports/route.ts';
import { decodeShape } from '../schema/shape.ts';
import { decodeStatusReport, statusReportSchema } from '../schema/status-report.ts';
import { answerChange, targetAnswer } from '../targets/answer-target.ts';
import { changeTarget } from '../targets/change-target.ts';
import { planReport, planRestart } from '../targets/report-plans.ts';

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
  const outcome = await changeTarget(deps, address, plan, 'StatusReported', dryRun.value);
  return answerChange(deps, outcome, { status: 200, ignored: decoded.value.ignored });
};

const restartedSchema = z
  .strictObject({
    container: z.string().optional().openapi({ description: 'May be absent where the target has one container.' }),
    containerID: z.string().optional().openapi({
      description:
        'Of the container that was restarted, as in Container Restart Requested: a repeated report of the same restart does nothing.',
    }),
  })
  .openapi('RestartReport');

const postRestarted: Handler = async (request, deps) => {
  const { namespace, name } = targetNameOf(request);
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const body = await readOptionalBody(request.raw, manifestMediaTypes, { deps });
  if (body.kind === 'problem') return problemResponse(body);
  const decoded = decodeShape(restartedSchema, body.value);
  if (decoded.kind === 'problem') return problemResponse(decoded);
  const address = targetAddress(namespace, name);
  const plan = planRestart(address, decoded.value, deps.clock.nowMs());
  const outcome = await changeTarget(deps, address, plan, 'RestartReported', dryRun.value);
  return answerChange(deps, outcome, { status: 200, ignored: [] });
};

export const reportRoutes: readonly Route[] = [
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
  {
    method: 'post',
    path: `${targetPath}/restarted`,
    summary: 'Reports that a container of a target with lifecycle static was restarted: its next incarnation runs',
    params: targetParams,
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: restartedSchema, required: false },
    answers: { 200: targetAnswer('Taken; the answer shows the status that follows from it.') },
    problems: [400, 404, 409, 413, 415, 422],
    handle: postRestarted,
  },
];
