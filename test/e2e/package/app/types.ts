/** A user's program with the types of every export. It is compiled, not run. */
import type { Stack } from 'aws-cdk-lib';
import type { IRuleTarget } from 'aws-cdk-lib/aws-events';
import { Probelet, type ProbeletProps, type UpdateRule } from 'probelet/cdk';
import { ClientError, probeletClient, type TargetView } from 'probelet/client';
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

export async function unready(url: string): Promise<readonly string[]> {
  const client = probeletClient({ url, aws: { region: 'eu-west-1', profile: 'prod' }, timeoutMs: 5_000 });
  const names: string[] = [];
  try {
    for await (const target of client.targets({ labelSelector: 'team=shop' })) {
      const { status }: TargetView = target;
      // @ts-expect-error: the types are those of the schema, not `any`.
      status.conditions.map(({ tpye }) => tpye);
      if (status.conditions.some(({ type, status: is }) => type === 'Ready' && is !== 'True'))
        names.push(target.metadata.name);
    }
  } catch (error) {
    if (error instanceof ClientError && error.fault === 'unreachable') return [];
    throw error;
  } finally {
    await client.close();
  }
  return names;
}
