/** Targets as the API shows them, all of them, in pages that hold nobody up. */
import assert from 'node:assert/strict';
import type { TargetView } from '../../../shared/api/target-schema.ts';
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import type { Answer } from '../world.ts';

export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

export const namespace = 'faults';
const pageSize = 100;

type Page = { readonly items: readonly TargetView[]; readonly metadata: { readonly continue?: string } };

export async function listTargets(api: Api): Promise<readonly TargetView[]> {
  const views: TargetView[] = [];
  for (let token: string | undefined = ''; token !== undefined; ) {
    const more: string = token === '' ? '' : `&continue=${token}`;
    const { status, body } = await api('GET', `/v1/targets?namespace=${namespace}&limit=${pageSize}${more}`);
    assert.equal(status, 200, JSON.stringify(body));
    const page = body as Page;
    views.push(...page.items);
    token = page.metadata.continue;
  }
  return views;
}

export const targetPath = (name: string): string => `/v1/namespaces/${namespace}/targets/${name}`;

export async function register(api: Api, name: string, spec: object): Promise<void> {
  const { status, body } = await api('PUT', targetPath(name), { spec });
  assert.ok(status === 201 || status === 200, `PUT ${name}: ${status} ${JSON.stringify(body)}`);
}

/** Waits until all targets look so; what they looked like. */
export async function untilAll(
  api: Api,
  withinMs: number,
  expected: (view: TargetView) => boolean,
): Promise<readonly TargetView[]> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    const views = await listTargets(api);
    const others = views.filter((view) => !expected(view));
    if (others.length === 0) return views;
    if (performance.now() > endMs)
      throw new Error(`${others.length} targets do not settle: ${JSON.stringify(others[0]?.status)}`);
    await sleep(systemClock, lookEveryMs);
  }
}

export const lookEveryMs = 2_000;

export const isReady = ({ status }: TargetView): boolean =>
  status.conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True');

/** Every result is known, and none is a failure. */
export const isWell = (view: TargetView): boolean =>
  isReady(view) && view.status.probes.every(({ result }) => result === 'success');
