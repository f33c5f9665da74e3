/**
 * Registers targets that are ready in a target group of an Elastic Load Balancer, and deregisters those that are not.
 * The group is of target type `ip`, and `spec.host` is the address of each target. Needs
 * @aws-sdk/client-elastic-load-balancing-v2, which finds credentials and region as the AWS CLI does.
 *
 *     node examples/subscribers/drain-target-group.ts "$TARGET_GROUP_ARN" app=shop
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  DeregisterTargetsCommand,
  ElasticLoadBalancingV2Client,
  RegisterTargetsCommand,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { ask, watch } from './watch.ts';

const [TargetGroupArn = '', labelSelector = ''] = process.argv.slice(2);
if (TargetGroupArn === '' || labelSelector === '') {
  console.error('usage: drain-target-group.ts TARGET_GROUP_ARN LABEL_SELECTOR');
  process.exit(2);
}

type Target = {
  readonly spec: { readonly host: string };
  readonly status: { readonly conditions: readonly { readonly type: string; readonly status: string }[] };
};
type Page = { readonly metadata: { readonly continue?: string }; readonly items: readonly Target[] };

const retryMs = 5_000;
const group = new ElasticLoadBalancingV2Client();
/** The addresses, and whether each was last registered. */
const registered = new Map<string, boolean>();

// An event is a hint that something has changed. What has to be done follows from the targets as they are.
for await (const _ of watch('Target Status Changed', { labelSelector }))
  while (!(await reconcile().then(() => true, failed))) await pause(retryMs);

function failed(error: unknown): false {
  console.error(`trying again: ${error}`);
  return false;
}

async function reconcile(): Promise<void> {
  const targets = await list();
  const ready = hostsOf(targets, 'True');
  await set(ready, true);
  // Without a ready target the load balancer keeps those that it has. Unknown says nothing about a target.
  if (ready.length > 0)
    await set(
      hostsOf(targets, 'False').filter((host) => !ready.includes(host)),
      false,
    );
}

function hostsOf(targets: readonly Target[], ready: string): readonly string[] {
  const isMeant = ({ status }: Target) =>
    status.conditions.some((each) => each.type === 'Ready' && each.status === ready);
  return targets.filter(isMeant).map(({ spec }) => spec.host);
}

async function set(hosts: readonly string[], isRegistered: boolean): Promise<void> {
  const changed = [...new Set(hosts)].filter((host) => registered.get(host) !== isRegistered);
  if (changed.length === 0) return;
  const Targets = changed.map((Id) => ({ Id }));
  const Command = isRegistered ? RegisterTargetsCommand : DeregisterTargetsCommand;
  await group.send(new Command({ TargetGroupArn, Targets }));
  for (const host of changed) registered.set(host, isRegistered);
  console.log(`${isRegistered ? 'registered' : 'deregistered'} ${changed.join(', ')}`);
}

async function list(): Promise<readonly Target[]> {
  const targets: Target[] = [];
  const query = new URLSearchParams({ labelSelector, limit: '500' });
  for (let token: string | undefined = ''; token !== undefined; ) {
    if (token !== '') query.set('continue', token);
    const { items, metadata } = (await (await ask(`/v1/targets?${query}`)).json()) as Page;
    targets.push(...items);
    token = metadata.continue;
  }
  return targets;
}
