/**
 * results.jsonl: the results cache and its update stream, as PROBE items and `Probe Result Changed`. Each container of
 * a vector is the container of a target. What its worker decides is committed through the commit queue, and read back
 * from the store. The pod UID of an update is the uid of the container's target: the worker gives it, in kubelet too.
 */
import type { EventDetail } from '../../shared/bus/events.ts';
import { parseContainerID } from '../../shared/core/kubelet/container-id.ts';
import type { CacheAction } from '../../shared/core/kubelet/worker.ts';
import { probeName } from '../../shared/core/spec/spec.ts';
import type { Result } from '../../shared/core/spec/types.ts';
import { newSocketBudget } from '../../shared/holder/probing/sockets.ts';
import type { HeldTarget, Worker } from '../../shared/holder/probing/worker.ts';
import { bareHolder } from '../support/bare-holder.ts';
import { type ShardWorld, shardWorld } from '../support/shard-world.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type Op = {
  readonly op: 'set' | 'get' | 'remove';
  readonly containerID: string;
  readonly result?: Result;
  readonly podUID?: string;
  readonly found?: boolean;
  readonly get?: Result;
  readonly updates: readonly { readonly containerID: string; readonly result: Result }[];
};

/** The target of one container, by its name. */
type Container = { readonly name: string; readonly held: HeldTarget; readonly worker: Worker };

const workerName = probeName('main', 'readiness');

export const runResults: VectorRunner = async (vector) => {
  const world = shardWorld();
  const { holder, hold } = bareHolder(world);
  const containers = new Map<string, Container>();

  const containerOf = async (key: string): Promise<Container> => {
    const known = containers.get(key);
    if (known) return known;
    const name = `container-${containers.size}`;
    await world.put(name, { lifecycle: 'reported', readinessProbe: { tcpSocket: { port: 1 } } });
    const held = await hold(name);
    const worker = held.workers.get(workerName);
    if (!worker) throw new Error(`no worker ${workerName}`);
    const container = { name, held, worker };
    containers.set(key, container);
    return container;
  };

  const apply = async (op: Op): Promise<unknown> => {
    const key = parseContainerID(op.containerID);
    const { name, held, worker } = await containerOf(key);
    const before = world.published.length;
    if (op.op !== 'get') {
      const { containerID, actions } = stepOf(op, key);
      const step = { worker: { ...worker.verdict.state, containerID }, actions };
      const place = newSocketBudget(world.clock).take('new', 1);
      await world.clock.runUntil(worker.apply(holder, place, step));
    }
    await world.clock.advance(0);
    const updates = updatesSince(world, before, held);
    return { updates, ...(op.op === 'get' && (await cached(world, name, key))) };
  };

  for (const [index, op] of (vector.ops as readonly Op[]).entries()) {
    const expected = {
      updates: op.updates.map(({ containerID, result }) => ({ containerID, result, isOfTarget: true })),
      ...(op.op === 'get' && { found: op.found ?? false, get: op.get }),
    };
    const different = compare(`op ${index} (${op.op})`, await apply(op), expected);
    if (different) return different;
  }
  return undefined;
};

/** A result is removed when the worker sees the next container, whose initial value follows (rule 3). */
function stepOf({ op, result }: Op, key: string): { containerID: string; actions: readonly CacheAction[] } {
  if (op === 'set') {
    if (result === undefined) throw new Error('a set without a result');
    return { containerID: key, actions: [{ kind: 'set', containerID: key, result }] };
  }
  const containerID = 'next://container';
  const initial: CacheAction = { kind: 'set', containerID, result: 'failure', initial: true };
  return { containerID, actions: [{ kind: 'remove', containerID: key }, initial] };
}

function updatesSince(world: ShardWorld, before: number, held: HeldTarget): readonly unknown[] {
  const changes = world.published
    .slice(before)
    .filter((event) => event['detail-type'] === 'Probe Result Changed')
    .map(({ detail }) => detail as EventDetail<'Probe Result Changed'>);
  return changes.map(({ containerID, result, target }) => ({
    containerID,
    result,
    isOfTarget: target.uid === held.target.uid,
  }));
}

/** As the store has it. */
async function cached(world: ShardWorld, name: string, key: string) {
  const { containerID, result } = await world.probe(name, workerName);
  const get = containerID === key ? result : undefined;
  return { found: get !== undefined, get };
}
