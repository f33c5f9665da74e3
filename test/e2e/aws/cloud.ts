/** What the steps use: a running deployment, its user's API, and the events that its subscriber has received. */
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import type { TargetSpecInput } from '../../../shared/core/spec/spec-input.ts';
import { targetPath } from '../../support/api-client.ts';
import { until } from '../../support/wait.ts';
import { type Api, register as registerAt } from '../api.ts';
import { conditionOf } from '../stage.ts';
import type { WorldEvent } from '../world.ts';
import type { App, Cdk } from './cdk.ts';
import type { Cli } from './cli.ts';
import type { Emulator } from './emulator.ts';
import type { Inbox, Received } from './inbox.ts';
import type { Send } from './requests.ts';

export type Cloud = {
  readonly emulator: Emulator;
  readonly cdk: Cdk;
  /** As the owner of the account. */
  readonly send: Send;
  /** As a user with access keys. */
  readonly api: Api;
  /** The same user's command line. Its current context is the API. */
  readonly cli: Cli;
  readonly inbox: Inbox;
  /** The name of the bus. */
  readonly bus: string;
  /** Is closed with the deployment. */
  readonly use: (stop: () => Promise<void>) => void;
};

/** Parts of the names that the functions get. */
export const functionParts = {
  prober: 'ProberFunction',
  schedule: 'ScheduleFunction',
  statusSync: 'StatusSyncFunction',
} as const;

/** The project's own app, for this machine; the table goes with the stack. */
export function probeletApp(props: Readonly<Record<string, unknown>> = {}): App {
  const given = { stage: 'emulator', allowLoopback: true, removalPolicy: 'destroy', dashboard: true, ...props };
  return { stack: 'Probelet', context: { probelet: JSON.stringify(given) } };
}

export const subscriberApp = (bus: string): App => ({
  stack: 'Subscriber',
  command: 'node test/e2e/aws/subscriber/app.ts',
  context: { bus },
});

export const pathOf = (namespace: string, name: string): string => targetPath(name, namespace);

type Place = { readonly namespace: string; readonly name: string };

export const register = ({ api }: Cloud, { namespace, name }: Place, spec: TargetSpecInput): Promise<void> =>
  registerAt(api, pathOf(namespace, name), spec);

/** undefined: there is none. */
export async function viewOf({ api }: Cloud, { namespace, name }: Place): Promise<TargetView | undefined> {
  const { status, body } = await api('GET', pathOf(namespace, name));
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`${name} was not read: ${status} ${JSON.stringify(body)}`);
  return body as TargetView;
}

export async function untilReady(cloud: Cloud, place: Place, status: 'True' | 'False', withinMs: number) {
  return until(`Ready of ${place.name} is ${status}`, withinMs, async () => {
    const view = await viewOf(cloud, place);
    return view && conditionOf(view, 'Ready')?.status === status && view;
  });
}

export const untilGone = (cloud: Cloud, place: Place, withinMs: number) =>
  until(`${place.name} is gone`, withinMs, async () => (await viewOf(cloud, place)) === undefined);

type Typed<Type extends WorldEvent['detail-type']> = Received & {
  readonly event: Extract<WorldEvent, { 'detail-type': Type }>;
};

/** Of one target, or of all. */
export function receivedOf<Type extends WorldEvent['detail-type']>(
  { inbox }: Pick<Cloud, 'inbox'>,
  type: Type,
  name?: string,
): readonly Typed<Type>[] {
  const isIt = (one: Received): one is Typed<Type> => {
    const { detail } = one.event;
    return (
      one.event['detail-type'] === type && (name === undefined || ('target' in detail && detail.target.name === name))
    );
  };
  return inbox.received.filter(isIt);
}
