/** The body of `PUT …/status`: a reporter's description of a target's containers, shaped like a Pod's status. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { isOwned } from '../../core/kubelet/conditions.ts';
import { at, type FieldProblem, unique, unless } from '../../core/spec/field-problem.ts';
import { isQualifiedName } from '../../core/spec/names.ts';
import type { ReportRecord } from '../../core/spec/records.ts';
import type { Condition, ContainerState, ContainerStatus } from '../../core/spec/types.ts';
import { valueSize } from '../../lib/json.ts';
import { conditionStatus, phase } from '../../schema/terms.ts';
import { depthMax } from '../http/json.ts';
import { type Checked, invalidFields, ok } from '../http/problem.ts';
import { keptOutOfReport, keptOutOfReportAt } from './kept-out.ts';
import { decodeShape } from './shape.ts';

const instant = z.iso.datetime({ offset: true });
/** Kubernetes' limits are those of its fields; here the size of the item is limited instead. */
const text = z.string().max(1_024);
const exitCode = z.int().min(-0x8000_0000).max(0x7fff_ffff);

const containerState = z
  .strictObject({
    running: z.strictObject({ startedAt: instant }).optional(),
    waiting: z.strictObject({ reason: text.optional(), message: text.optional() }).optional(),
    terminated: z
      .strictObject({
        exitCode,
        reason: text.optional(),
        message: text.optional(),
        startedAt: instant.optional(),
        finishedAt: instant.optional(),
      })
      .optional(),
  })
  .openapi('ReportedState', { description: 'At most one of running, waiting and terminated.' });

const containerStatus = z
  .strictObject({
    name: z.string(),
    containerID: text.optional(),
    state: containerState.optional(),
    lastState: containerState.optional(),
    ready: z.boolean().optional().openapi({ description: 'Not used: what is ready is what the probes say.' }),
    started: z.boolean().optional().openapi({ description: 'Not used, as ready.' }),
    restartCount: z.int().min(0).optional(),
  })
  .openapi('ReportedContainer');

const condition = z
  .strictObject({
    type: z.string(),
    status: conditionStatus,
    reason: text.optional(),
    message: text.optional(),
    lastTransitionTime: instant.optional(),
  })
  .openapi('ReportedCondition');

const statusesMax = 20;
const conditionsMax = 32;

export const statusReportSchema = z
  .strictObject({
    apiVersion: z.string().optional(),
    kind: z.string().optional(),
    status: z.strictObject({
      phase: phase.optional(),
      conditions: z.array(condition).max(conditionsMax).optional(),
      initContainerStatuses: z.array(containerStatus).max(statusesMax).optional(),
      containerStatuses: z.array(containerStatus).max(statusesMax).optional(),
    }),
  })
  .openapi('StatusReport');

export type StatusReport = z.infer<typeof statusReportSchema>;

type ReportBody = StatusReport['status'];
type ReportedContainer = NonNullable<ReportBody['containerStatuses']>[number];
type ReportedState = NonNullable<ReportedContainer['state']>;

/** A report without the fields that the server adds. */
export type Report = Pick<ReportRecord, 'phase' | 'containerStatuses' | 'initContainerStatuses' | 'conditions'>;

export type DecodedReport = { readonly report: Report; readonly ignored: readonly string[] };

/** Without what a report does not use: twice what the largest one has. Each value may be a mistake to be named. */
const reportValuesMax = 2_500;
const tooManyValues = invalidFields([{ pointer: '', detail: `must have at most ${reportValuesMax} values` }]);

export function decodeStatusReport(body: unknown): Checked<DecodedReport> {
  const { value, ignored } = keptOutOfReport(body);
  if (valueSize(value, { valuesMax: reportValuesMax, depthMax }).kind !== 'counted') return tooManyValues;
  const shaped = decodeShape(statusReportSchema, value, keptOutOfReportAt);
  if (shaped.kind === 'problem') return shaped;
  const {
    phase: reportedPhase,
    conditions = [],
    containerStatuses = [],
    initContainerStatuses = [],
  } = shaped.value.status;
  const problems = [
    ...statusesProblems(containerStatuses, '/status/containerStatuses'),
    ...statusesProblems(initContainerStatuses, '/status/initContainerStatuses'),
    ...conditionsProblems(conditions),
  ];
  if (problems.length > 0) return invalidFields(problems);
  const report: Report = {
    ...(reportedPhase && { phase: reportedPhase }),
    containerStatuses: containerStatuses.map(statusOf),
    initContainerStatuses: initContainerStatuses.map(statusOf),
    // kubelet's conditions follow from the containers; a Pod that is reported unchanged contains them too.
    conditions: conditions.filter(({ type }) => !isOwned(type)).map(conditionOf),
  };
  return ok({ report, ignored });
}

function statusesProblems(statuses: readonly ReportedContainer[], pointer: string): readonly FieldProblem[] {
  const names = statuses.map(({ name }) => name);
  return [
    ...unique(names, (index) => at(at(pointer, index), 'name')),
    ...statuses.flatMap(({ state, lastState, containerID }, index) => [
      ...stateProblems(state, at(at(pointer, index), 'state')),
      ...stateProblems(lastState, at(at(pointer, index), 'lastState')),
      ...unless(
        !containerID || containerID.split('://').length === 2,
        at(at(pointer, index), 'containerID'),
        'must be scheme://id',
      ),
    ]),
  ];
}

function stateProblems(state: ReportedState | undefined, pointer: string): readonly FieldProblem[] {
  const kinds = Object.values(state ?? {}).filter((each) => each !== undefined);
  return unless(kinds.length <= 1, pointer, 'must be one of running, waiting and terminated');
}

function conditionsProblems(conditions: NonNullable<ReportBody['conditions']>): readonly FieldProblem[] {
  const typeAt = (index: number) => at(at('/status/conditions', index), 'type');
  return [
    ...conditions.flatMap(({ type }, index) =>
      unless(isQualifiedName(type), typeAt(index), 'must be a qualified name'),
    ),
    ...unique(
      conditions.map(({ type }) => type),
      typeAt,
    ),
  ];
}

function statusOf(reported: ReportedContainer): ContainerStatus {
  const state = stateOf(reported.state);
  const lastState = stateOf(reported.lastState);
  return {
    name: reported.name,
    containerID: reported.containerID ?? '',
    ...(state && { state }),
    ...(lastState && { lastState }),
    // kubelet builds the status again on each sync: the prober decides `ready` and `started`, not the reporter.
    ready: false,
    started: null,
    restartCount: reported.restartCount ?? 0,
  };
}

function stateOf(state: ReportedState | undefined): ContainerState | undefined {
  if (state?.running) return { kind: 'running', startedAtMs: Date.parse(state.running.startedAt) };
  if (state?.waiting) return { kind: 'waiting', ...given(state.waiting) };
  if (!state?.terminated) return undefined;
  const { startedAt, finishedAt, exitCode: code, ...texts } = state.terminated;
  return {
    kind: 'terminated',
    exitCode: code,
    ...given(texts),
    ...(startedAt !== undefined && { startedAtMs: Date.parse(startedAt) }),
    ...(finishedAt !== undefined && { finishedAtMs: Date.parse(finishedAt) }),
  };
}

function conditionOf({
  lastTransitionTime,
  type,
  status,
  ...texts
}: NonNullable<ReportBody['conditions']>[number]): Condition {
  const since = lastTransitionTime !== undefined && { lastTransitionTimeMs: Date.parse(lastTransitionTime) };
  return { type, status, ...given(texts), ...since };
}

type Texts = { readonly reason?: string | undefined; readonly message?: string | undefined };

const given = ({ reason, message }: Texts) => ({
  ...(reason !== undefined && { reason }),
  ...(message !== undefined && { message }),
});
