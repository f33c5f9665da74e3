/** A user's program with the types of every export. It is compiled, not run. */
import type { Stack } from 'aws-cdk-lib';
import type { IRuleTarget } from 'aws-cdk-lib/aws-events';
import { Probelet, type ProbeletProps, type UpdateRule } from 'probelet/cdk';
import { type DetailType, type EventDetail, type EventEnvelope, eventSchemas, eventSource } from 'probelet/events';

export function deployed(stack: Stack, target: IRuleTarget): string {
  const props: ProbeletProps = { memorySize: 512 };
  const probelet = new Probelet(stack, 'Probelet', props);
  const detailType: DetailType = 'Container Restart Requested';
  const rule: UpdateRule = { detailType, target };
  probelet.onUpdate('Restart', rule);
  // @ts-expect-error: the types are those of the construct, not `any`.
  probelet.onUpdate('Misspelt', { detailType: 'Container Restarted', target });
  return probelet.apiUrl;
}

export function restart({ source, detail }: EventEnvelope): number | undefined {
  if (source !== eventSource) return undefined;
  const request: EventDetail<'Container Restart Requested'> = eventSchemas['Container Restart Requested'].parse(detail);
  // @ts-expect-error: the types are those of the schema, not `any`.
  request.attempt.toLowerCase();
  return request.attempt;
}
