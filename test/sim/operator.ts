/** The operator: registers, changes and removes the targets of a simulated world, and reads them. */
import type { BusEvent } from '../../shared/bus/events.ts';
import type { Chance } from './chance.ts';
import type { ApiAnswer, Client } from './client.ts';
import type { Scheduler } from './clock.ts';
import { type ContainerRuntime, containerRuntime } from './container-runtime.ts';
import type { Network } from './network.ts';
import type { Setting } from './setting.ts';
import { staticSubscriber } from './static-subscriber.ts';
import { endpointsOf, restMsOf, type ScriptedTarget } from './targets.ts';
import { type CommonLife, commonLife, endpointLife } from './truth.ts';

export type OperatorPorts = {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly client: Client;
  readonly network: Network;
  readonly isCalm: () => boolean;
  readonly setting: Pick<Setting, 'targets' | 'sharesFate' | 'restartsNone' | 'registrationMs' | 'looksAfterMs'>;
};

export type Operator = { hear(event: BusEvent): void };

export function operate(ports: OperatorPorts): Operator {
  const { scheduler, chance, setting } = ports;
  const runtimes = new Map<string, ContainerRuntime>();
  const { sharesFate = () => false } = setting;
  const common = commonLife({ ...ports, chance: chance.fork('site') });

  for (const target of setting.targets) {
    const own: Own = {
      ...ports,
      target,
      chance: chance.fork(target.name),
      runtimes,
      ...(sharesFate(target) && { common }),
    };
    scheduler.after(chance.between(0, setting.registrationMs), {
      label: `${target.name} is wanted`,
      deliver: () => void live(own),
    });
  }
  void look({ ...ports, chance: chance.fork('looks') });
  return {
    hear(event) {
      if (event.detailType !== 'Container Restart Requested') return;
      runtimes.get(event.detail.target.name)?.hear(event);
    },
  };
}

type Own = OperatorPorts & {
  readonly target: ScriptedTarget;
  readonly runtimes: Map<string, ContainerRuntime>;
  /** The life that its endpoints share with those of other targets. */
  readonly common?: CommonLife;
};

const pathOf = ({ namespace, name }: Pick<ScriptedTarget, 'namespace' | 'name'>): string =>
  `/v1/namespaces/${namespace}/targets/${name}`;

/** Incarnation after incarnation. */
async function live(own: Own): Promise<void> {
  const { target, chance, client, network, scheduler, runtimes, common } = own;
  for (let incarnation = 0; ; incarnation += 1) {
    const spec = target.spec(incarnation, chance);
    const lives = endpointsOf(spec).map((endpoint) => {
      network.set(endpoint, 'healthy');
      return common?.join(endpoint) ?? endpointLife({ scheduler, network, chance: chance.fork(endpoint) }, endpoint);
    });
    await registered(own, spec);
    const containers = (spec.containers ?? []).map(({ name }) => name);
    const named = { namespace: target.namespace, name: target.name, incarnation, containers };
    const runtime = target.lifecycle === 'reported' ? containerRuntime : staticSubscriber;
    if (!own.setting.restartsNone)
      runtimes.set(target.name, runtime({ scheduler, client, chance: chance.fork(`runtime ${incarnation}`) }, named));
    if (target.fate === 'stays') return;
    if (target.fate === 'changes') return change(own, incarnation);
    await restless(own);
    await removed(own);
    for (const end of lives) end();
    runtimes.get(target.name)?.stop();
  }
}

/** Puts it until it is there as wanted; its predecessor may still be leaving. */
async function registered({ target, client, chance }: Own, spec: unknown): Promise<void> {
  for (;;) {
    const answer = await client.insist({ method: 'PUT', path: pathOf(target), body: { spec } });
    if (answer && (answer.status === 200 || answer.status === 201)) return;
    if (answer?.status !== 409) throw new Error(`${target.name}: ${JSON.stringify(answer)}`);
    await client.sleep(chance.between(100, 20_000));
  }
}

async function removed({ target, client, chance }: Own): Promise<void> {
  const seconds = chance.pick([0, 0, 5, 30, 90]);
  const path = pathOf(target);
  await client.insist({ method: 'DELETE', path: `${path}?gracePeriodSeconds=${seconds}` });
  // Half of the time its name is wanted again at once.
  if (chance.happens(0.5)) return;
  for (;;) {
    const answer = await client.insist({ method: 'GET', path });
    if (answer?.status === 404) return;
    await client.sleep(chance.between(500, 20_000));
  }
}

async function restless({ target, client, chance, isCalm }: Own): Promise<void> {
  await client.sleep(chance.wait(restMsOf(target.fate)));
  // In the calm no changes are made, so that everything can settle.
  while (isCalm()) await client.sleep(chance.between(10_000, 60_000));
}

/** Another spec for the same incarnation, or a manual trigger. */
async function change(own: Own, incarnation: number): Promise<void> {
  const { target, client, chance } = own;
  for (;;) {
    await restless(own);
    if (chance.happens(0.3)) await client.insist({ method: 'POST', path: `${pathOf(target)}/probe` });
    else await registered(own, target.spec(incarnation, chance));
  }
}

/** Looks at one target after another when the API answers again. */
const looksAgain = 15;

/** Reads random targets; after a request without an answer it retries, and then reads many targets. */
async function look({ client, chance, setting }: OperatorPorts): Promise<void> {
  let curious = 0;
  for (let looks = 0; ; looks += 1) {
    await client.sleep(curious > 0 ? chance.between(300, 1_500) : chance.between(...setting.looksAfterMs));
    const isList = curious === 0 && looks % 20 === 19;
    const path = isList ? '/v1/targets?limit=500' : pathOf(chance.pick(setting.targets));
    curious = Math.max(0, curious - 1);
    while (!isAnswered(await client.ask({ method: 'GET', path }))) {
      curious = looksAgain;
      await client.sleep(chance.between(5_000, 15_000));
    }
  }
}

const isAnswered = (answer: ApiAnswer | undefined): boolean => answer !== undefined && answer.status < 500;
