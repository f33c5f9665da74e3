/** All targets as the API shows them, read in small pages that do not hold up the API. */
import assert from 'node:assert/strict';
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { targetPath as pathOf } from '../../support/api-client.ts';
import { until } from '../../support/wait.ts';
import { type Api, answered } from '../api.ts';

export const namespace = 'faults';
const pageSize = 100;

type Page = { readonly items: readonly TargetView[]; readonly metadata: { readonly continue?: string } };

export async function listTargets(api: Api): Promise<readonly TargetView[]> {
  const views: TargetView[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const more: string = token === '' ? '' : `&continue=${token}`;
    const path = `/v1/targets?namespace=${namespace}&limit=${pageSize}${more}`;
    const page = (await answered(api, 200, ['GET', path])) as Page;
    views.push(...page.items);
    token = page.metadata.continue;
  }
  return views;
}

export const targetPath = (name: string): string => pathOf(name, namespace);

export async function register(api: Api, name: string, spec: object): Promise<void> {
  const { status, body } = await api('PUT', targetPath(name), { spec });
  assert.ok(status === 201 || status === 200, `PUT ${name}: ${status} ${JSON.stringify(body)}`);
}

/** Waits until all targets are as expected. */
export function untilAll(api: Api, withinMs: number, expected: (view: TargetView) => boolean): Promise<true> {
  let others: readonly TargetView[] = [];
  const describe = () => `all targets settle, but ${others.length}: ${JSON.stringify(others[0]?.status)}`;
  return until(describe, { withinMs, pollMs: 2_000 }, async () => {
    others = (await listTargets(api)).filter((view) => !expected(view));
    return others.length === 0;
  });
}

export const isReady = ({ status }: TargetView): boolean =>
  status.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** Every result is known, and none is a failure. */
export const isWell = (view: TargetView): boolean =>
  isReady(view) && view.status.probes.every(({ result }) => result === 'success');
