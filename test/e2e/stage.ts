/** One scenario's part of a world: its target, its listeners, its files, and what it expects. */
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TargetView } from '../../shared/api/schema/target-schema.ts';
import type { ContainerInput, TargetSpecInput } from '../../shared/core/spec/spec-input.ts';
import { sleep } from '../../shared/lib/clock.ts';
import { targetPath } from '../support/api-client.ts';
import { answered, register } from './api.ts';
import { runContainers } from './container-runtime.ts';
import type { World, WorldEvent } from './world.ts';

/** kubelet's suite runs everything for a regular container and for a restartable init container, a sidecar. */
export type Place = 'container' | 'sidecar';

export type Scenario = { readonly name: string; readonly run: (stage: Stage) => Promise<void> };

/** The container under test, without what its place says. */
export type Probed = Omit<ContainerInput, 'name' | 'restartPolicy'>;

export type Expectation = (view: TargetView) => boolean;

export type Stage = {
  readonly world: World;
  /** The name of the target. */
  readonly name: string;
  /** With lifecycle `reported` and a container runtime, unless `more` says otherwise. */
  register(place: Place, container: Probed, more?: Partial<TargetSpecInput>): Promise<void>;
  get(): Promise<TargetView>;
  /** undefined: the target is gone. */
  find(): Promise<TargetView | undefined>;
  terminate(gracePeriodSeconds: number): Promise<void>;
  /** Waits until the expectation holds; fails after `withinMs` and the world's slack. */
  until(what: string, withinMs: number, expectation: Expectation): Promise<TargetView>;
  /** Fails as soon as the expectation does not hold. */
  during(what: string, ms: number, expectation: Expectation): Promise<void>;
  sleep(ms: number): Promise<void>;
  /** Events of the target so far. */
  events<Type extends WorldEvent['detail-type']>(type: Type): readonly Extract<WorldEvent, { 'detail-type': Type }>[];
  /** Called as the container runtime starts a container again. */
  onRestart(restart: () => void): void;
  /** Reports the restart of a container with lifecycle `static`. */
  reportRestart(containerID: string): Promise<TargetView>;
  /** Closes it with the stage. */
  use<Closable extends { close(): Promise<void> }>(closable: Promise<Closable>): Promise<Closable>;
  /** A file for exec probes. */
  file(name: string): { readonly path: string; write(): void; remove(): void };
  after(ms: number, callback: () => void): void;
  close(): Promise<void>;
};

export const namespace = 'e2e';
const probedContainer = 'probed';
const pollMs = 1_000;

export function openStage(world: World, name: string): Stage {
  const path = targetPath(name, namespace);
  const folder = join(world.folder, name);
  mkdirSync(folder, { recursive: true });
  const closables: (() => Promise<void> | void)[] = [];
  const restarts: (() => void)[] = [];
  const seen: WorldEvent[] = [];
  const isOwn = ({ detail }: WorldEvent) => 'target' in detail && detail.target.name === name;
  const listen = (listener: (event: WorldEvent) => void) =>
    closables.push(
      world.subscribe((event) => {
        if (isOwn(event)) listener(event);
      }),
    );
  listen((event) => seen.push(event));

  const stage: Stage = {
    world,
    name,
    async register(place, container, more = {}) {
      const spec = targetSpec(place, container, more);
      await register(world.api, path, spec);
      if (spec.lifecycle !== 'reported') return;
      const { containers, initContainers } = namesIn(spec);
      const onRestart = () => {
        for (const restart of restarts) restart();
      };
      await stage.use(runContainers(world, { target: path, containers, initContainers, onRestart }));
    },
    async get() {
      const view = await stage.find();
      assert.ok(view, `${name} is gone`);
      return view;
    },
    async find() {
      const { status, body } = await world.api('GET', path);
      if (status === 404) return undefined;
      assert.equal(status, 200, JSON.stringify(body));
      return body as TargetView;
    },
    async terminate(gracePeriodSeconds) {
      await answered(world.api, 202, ['DELETE', `${path}?gracePeriodSeconds=${gracePeriodSeconds}`]);
    },
    async until(what, withinMs, expectation) {
      const endMs = world.clock.monotonicMs() + withinMs + world.slackMs;
      for (let view = await stage.get(); ; view = await stage.get()) {
        if (expectation(view)) return view;
        if (world.clock.monotonicMs() > endMs) assert.fail(`not ${what} within ${withinMs} ms: ${shown(view)}`);
        await stage.sleep(pollMs);
      }
    },
    async during(what, ms, expectation) {
      const endMs = world.clock.monotonicMs() + ms;
      while (world.clock.monotonicMs() < endMs) {
        const view = await stage.get();
        assert.ok(expectation(view), `not ${what} any more: ${shown(view)}`);
        await stage.sleep(pollMs);
      }
    },
    sleep: (ms) => sleep(world.clock, ms),
    events: (type) => seen.filter((event) => event['detail-type'] === type) as never,
    onRestart: (restart) => void restarts.push(restart),
    async reportRestart(containerID) {
      const report = { container: probedContainer, containerID };
      return (await answered(world.api, 200, ['POST', `${path}/restarted`, report])) as TargetView;
    },
    async use(closable) {
      const used = await closable;
      closables.push(() => used.close());
      return used;
    },
    file(file) {
      const filePath = join(folder, file);
      return {
        path: filePath,
        write: () => writeFileSync(filePath, 'ok\n'),
        remove: () => rmSync(filePath, { force: true }),
      };
    },
    after(ms, callback) {
      closables.push(world.clock.setTimer(Math.max(0, ms), callback));
    },
    async close() {
      if (await stage.find()) await stage.terminate(0);
      for (const close of closables.reverse()) await close();
    },
  };
  return stage;
}

function targetSpec(place: Place, container: Probed, more: Partial<TargetSpecInput>): TargetSpecInput {
  const probed = { name: probedContainer, ...container };
  const placed: TargetSpecInput =
    place === 'container'
      ? { containers: [probed] }
      : { initContainers: [{ ...probed, restartPolicy: 'Always' }], containers: [{ name: 'main' }] };
  return { host: '127.0.0.1', lifecycle: 'reported', ...placed, ...more };
}

const namesIn = ({ containers = [], initContainers = [] }: TargetSpecInput) => ({
  containers: containers.map(({ name }) => name),
  initContainers: initContainers.map(({ name }) => name),
});

const shown = ({ status }: TargetView): string => JSON.stringify(status);

export const probedStatus = ({ status }: TargetView) => {
  const found = [...status.containerStatuses, ...status.initContainerStatuses].find(
    ({ name }) => name === probedContainer,
  );
  assert.ok(found);
  return found;
};

export const conditionOf = ({ status }: TargetView, type: string) =>
  status.conditions.find((condition) => condition.type === type);

export const isReady: Expectation = (view) => conditionOf(view, 'Ready')?.status === 'True';
export const isStarted: Expectation = (view) => probedStatus(view).started === true;
export const containerID = (view: TargetView): string => probedStatus(view).containerID ?? '';
export const restartCount = (view: TargetView): number => probedStatus(view).restartCount;
export const neverRestarted: Expectation = (view) => restartCount(view) === 0;
