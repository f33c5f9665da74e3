/** The manual trigger. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import type { FieldProblem } from '../../core/spec/field-problem.ts';
import { type ProbeName, specProbes } from '../../core/spec/spec.ts';
import { probeType } from '../../schema/terms.ts';
import { targetAddress } from '../../store/records/keys.ts';
import { manifestMediaTypes, readOptionalBody } from '../http/body.ts';
import { dryRunParam, readFlag } from '../http/parameters.ts';
import { invalidFields, jsonResponse, type Problem, problemResponse } from '../http/problem.ts';
import { type Handler, type Route, targetNameOf, targetParams, targetPath } from '../ports/route.ts';
import { decodeShape } from '../schema/shape.ts';
import { changeTarget } from '../targets/change-target.ts';
import type { StoredTarget } from '../targets/stored-target.ts';
import { planProbeRequest } from '../targets/target-plans.ts';

export const probeRequestSchema = z
  .strictObject({ container: z.string().optional(), probeType: probeType.optional() })
  .openapi('ProbeRequest', { description: 'Absent: every container, every type.' });

export type ProbeRequest = z.infer<typeof probeRequestSchema>;

const probedSchema = z
  .object({ probes: z.array(z.object({ container: z.string(), probeType })) })
  .openapi('ProbeRequested');

const postProbe: Handler = async (request, deps) => {
  const { namespace, name } = targetNameOf(request);
  const dryRun = readFlag(request.query, 'dryRun');
  if (dryRun.kind === 'problem') return problemResponse(dryRun);
  const body = await readOptionalBody(request.raw, manifestMediaTypes, { deps });
  if (body.kind === 'problem') return problemResponse(body);
  const wanted = decodeShape(probeRequestSchema, body.value);
  if (wanted.kind === 'problem') return problemResponse(wanted);
  const address = targetAddress(namespace, name);
  const plan = planProbeRequest(address, (stored) => selectProbes(stored, wanted.value));
  const outcome = await changeTarget(deps, address, plan, 'ProbeRequested', dryRun.value);
  if (outcome.kind === 'problem') return problemResponse(outcome);
  return jsonResponse(202, { probes: matching(outcome.stored, wanted.value).map(shown) });
};

const matching = ({ target }: StoredTarget, wanted: ProbeRequest) =>
  specProbes(target.spec).filter(
    (probe) =>
      (wanted.container === undefined || probe.container.spec.name === wanted.container) &&
      (wanted.probeType === undefined || probe.probeType === wanted.probeType),
  );

const shown = (probe: ReturnType<typeof matching>[number]) => ({
  container: probe.container.spec.name,
  probeType: probe.probeType,
});

/** Naming a container or type without a probe is a mistake. For a target without any probe the request selects none. */
function selectProbes(stored: StoredTarget, wanted: ProbeRequest): readonly ProbeName[] | Problem {
  const names = matching(stored, wanted).map((probe) => probe.name);
  const isNamed = wanted.container !== undefined || wanted.probeType !== undefined;
  return names.length > 0 || !isNamed ? names : invalidFields([unmatched(stored, wanted)]);
}

function unmatched({ target }: StoredTarget, { container, probeType: type }: ProbeRequest): FieldProblem {
  const known = specProbes(target.spec).some((probe) => probe.container.spec.name === container);
  if (container !== undefined && !known)
    return { pointer: '/container', detail: 'must be the name of a container with a probe' };
  return { pointer: '/probeType', detail: `must be a type that is probed, ${type} is not` };
}

export const probeRoutes: readonly Route[] = [
  {
    method: 'post',
    path: `${targetPath}/probe`,
    summary: 'Probes now, instead of at the next tick',
    params: targetParams,
    query: z.object({ dryRun: dryRunParam }),
    body: { mediaTypes: Object.keys(manifestMediaTypes), schema: probeRequestSchema, required: false },
    answers: { 202: { description: 'These probes will be done within moments.', schema: probedSchema } },
    problems: [404, 409, 413, 415, 422],
    handle: postProbe,
  },
];
