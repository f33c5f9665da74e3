/**
 * What a kubelet without a prober does for one Pod: it starts the containers in their order, registers the Pod as a
 * target, reports its containers, restarts the one that probelet asks to restart, and terminates the Pod in kubelet's
 * order. The Pod's status is the target's.
 */
import type { TargetView } from '../../../shared/api/schema/target-schema.ts';
import { targetPath } from '../../support/api-client.ts';
import type { WorldEvent } from '../world.ts';
import { Container } from './container.ts';
import { asKubelets } from './declared.ts';
import { podAddress } from './network.ts';
import type { Running, Runtime, Sandbox } from './runtime.ts';
import { containersOf, isSidecar, type KubernetesEvent, type Owner, type Pod, type PodStatus } from './spec.ts';
import { type Lifecycle, podStatusOf, reportOf, targetOf } from './translation.ts';

export type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

/** What the worker of a Pod needs of its node. */
export type Node = {
  readonly lifecycle: Lifecycle;
  readonly runtime: Pick<Runtime, 'sandbox' | 'execIn'>;
  readonly probelet: (
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ readonly status: number; readonly body: unknown }>;
  readonly record: (pod: Owner, event: KubernetesEvent) => void;
  readonly changed: (change: Change, pod: PodWorker) => void;
  /** Something that must not happen, whatever the cases assert. */
  readonly fault: (text: string) => void;
};

type Requested = Extract<WorldEvent, { readonly 'detail-type': 'Container Restart Requested' }>['detail'];

export class PodWorker {
  readonly podIP: string;
  readonly #node: Node;
  readonly #number: number;
  readonly #path: string;
  #pod: Pod;
  #target: TargetView | undefined;
  #sandbox: Sandbox | undefined;
  #containers: readonly Container[] = [];
  #isRegistered = false;
  #isTerminating = false;
  #isGone = false;
  #reports: Promise<void> = Promise.resolve();
  readonly #answered = new Set<string>();
  readonly #looks = new Set<() => void>();

  /** `number`: of the Pod on its node. */
  constructor(node: Node, pod: Pod, number: number) {
    this.#node = node;
    this.#pod = pod;
    this.#number = number;
    this.podIP = podAddress(number);
    this.#path = targetPath(pod.metadata.name, pod.metadata.namespace);
  }

  get pod(): Pod {
    return this.#pod;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  async run(): Promise<void> {
    const { uid } = this.#pod.metadata;
    const sandbox = await this.#node.runtime.sandbox(uid, this.#number);
    this.#sandbox = sandbox;
    if (this.#isGone) return sandbox.remove();
    const { spec } = this.#pod;
    this.#containers = containersOf(spec).map((each) => new Container(each, isSidecar(spec, each), sandbox));
    const isReported = this.#node.lifecycle === 'reported';
    if (isReported) await this.#register();
    await this.#report();
    for (const container of this.#containers) {
      if (this.#isTerminating) return;
      await this.#start(container);
      if (isReported && container.isSidecar) await this.#untilStarted(container);
    }
    if (!isReported) await this.#register();
  }

  /** An event of its target. */
  async on(event: WorldEvent): Promise<void> {
    switch (event['detail-type']) {
      case 'Container Unhealthy':
        this.#record({ type: 'Warning', reason: 'Unhealthy', message: event.detail.message });
        break;
      case 'Container Probe Warning': {
        const text = await asKubelets(event.detail, this.#pod.spec, this.podIP);
        this.#record({ type: 'Warning', reason: 'ProbeWarning', ...text });
        break;
      }
      case 'Container Restart Requested':
        await this.#restart(event.detail);
        break;
      default:
    }
    await this.refresh();
  }

  /** Takes over the status that the target has now. */
  async refresh(): Promise<void> {
    if (!this.#isRegistered || this.#isGone) return;
    const { status, body } = await this.#node.probelet('GET', this.#path);
    if (status === 200) this.#seen(body as TargetView);
    else if (!this.#isTerminating) this.#node.fault(`GET ${this.#path} is answered ${status}`);
  }

  /** Begins the Pod's termination, or ends the Pod at once where the grace period is 0. */
  async delete(graceSeconds: number): Promise<void> {
    if (graceSeconds === 0) return this.remove();
    if (this.#isTerminating) return;
    this.#isTerminating = true;
    const deletionTimestamp = new Date(Date.now() + graceSeconds * 1_000).toISOString().replace(/\.\d+/, '');
    const metadata = { ...this.#pod.metadata, deletionTimestamp, deletionGracePeriodSeconds: graceSeconds };
    this.#change({ ...this.#pod, metadata });
    await this.#ask(202, 'DELETE', `${this.#path}?gracePeriodSeconds=${graceSeconds}`);
    void this.#terminate(graceSeconds).catch((error: unknown) => this.#node.fault(String(error)));
  }

  /** Without a grace period. */
  async remove(): Promise<void> {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#isTerminating = true;
    this.#sandbox?.remove();
    for (const look of this.#looks) look();
    await this.#removeTarget();
    this.#node.changed('DELETED', this);
  }

  /** It may be gone already. */
  #removeTarget = () => this.#node.probelet('DELETE', `${this.#path}?gracePeriodSeconds=0`);

  /** Regular containers first, then the sidecars, the last one first. */
  async #terminate(graceSeconds: number): Promise<void> {
    const endMs = Date.now() + graceSeconds * 1_000;
    const stop = async (container: Container) => {
      if (container.running === undefined) return;
      this.#record({ type: 'Normal', reason: 'Killing', message: `Stopping container ${container.spec.name}` });
      await container.stop((endMs - Date.now()) / 1_000);
      await this.#report();
    };
    await Promise.all(this.#containers.filter(({ isSidecar: is }) => !is).map(stop));
    for (const container of this.#containers.filter(({ isSidecar: is }) => is).reverse()) await stop(container);
    await this.remove();
  }

  async #register(): Promise<void> {
    const { lifecycle, runtime } = this.#node;
    const execIn = (container: string) => runtime.execIn(this.#pod.metadata.uid, container);
    const place = { podIP: this.podIP, lifecycle, execIn };
    const view = await this.#ask(201, 'PUT', this.#path, targetOf(this.#pod, place));
    if (view === undefined) return;
    this.#isRegistered = true;
    this.#seen(view as TargetView);
    if (this.#isGone) await this.#removeTarget();
  }

  async #start(container: Container): Promise<void> {
    this.#watchOver(container, await container.start());
    await this.#report();
  }

  /** No case has a container that ends by itself. */
  #watchOver(container: Container, running: Running): void {
    void running.ended.then((end) => {
      if (this.#isGone || container.isStopping(running)) return;
      this.#node.fault(`${this.#path}: container ${container.spec.name} ended by itself with ${end.exitCode}`);
      container.ended(running, end);
      return this.#report();
    });
  }

  async #restart(request: Requested): Promise<void> {
    const container = this.#containers.find(({ spec }) => spec.name === request.container);
    if (this.#isTerminating || container?.running === undefined || this.#answered.has(request.containerID)) return;
    const isReported = this.#node.lifecycle === 'reported';
    if (isReported && container.running.containerID !== request.containerID) return;
    this.#answered.add(request.containerID);
    this.#record({ type: 'Normal', reason: 'Killing', message: request.message });
    await container.stop(request.terminationGracePeriodSeconds);
    const isOver = () => this.#isTerminating;
    await container.startAgain({ onBackOff: () => this.#report(), isOver });
    if (container.running === undefined) return;
    this.#watchOver(container, container.running);
    if (isReported) return this.#report();
    const { containerID } = request;
    await this.#ask(200, 'POST', `${this.#path}/restarted`, { container: request.container, containerID });
  }

  /** Reports one after the other; each says what is true when its turn has come. */
  #report(): Promise<void> {
    if (this.#node.lifecycle !== 'reported') return Promise.resolve();
    this.#reports = this.#reports.then(async () => {
      const states = this.#containers.map(({ state }) => state);
      const view = await this.#ask(200, 'PUT', `${this.#path}/status`, reportOf(this.#pod.spec, states));
      if (view !== undefined) this.#seen(view as TargetView);
    });
    return this.#reports;
  }

  /** The body of an answer with this status; undefined: the Pod is terminating, so the target may be gone. */
  async #ask(wanted: number, ...request: Parameters<Node['probelet']>): Promise<unknown> {
    const { status, body } = await this.#node.probelet(...request);
    if (status === wanted) return body;
    if (!this.#isTerminating || status !== 404)
      this.#node.fault(`${request.slice(0, 2).join(' ')} is answered ${status}: ${JSON.stringify(body)}`);
    return undefined;
  }

  async #untilStarted({ spec }: Container): Promise<void> {
    const isStarted = () =>
      this.#isTerminating ||
      this.#pod.status.initContainerStatuses?.some(({ name, started }) => name === spec.name && started);
    while (!isStarted())
      await new Promise<void>((resolve) => {
        const look = () => {
          this.#looks.delete(look);
          resolve();
        };
        this.#looks.add(look);
      });
  }

  #seen(target: TargetView): void {
    if (this.#isGone || versionOf(target) < versionOf(this.#target)) return;
    this.#target = target;
    const status = podStatusOf(target, this.#pod, this.podIP);
    if (!isSame(status, this.#pod.status)) this.#change({ ...this.#pod, status });
  }

  #change(pod: Pod): void {
    this.#pod = pod;
    this.#node.changed('MODIFIED', this);
    for (const look of this.#looks) look();
  }

  #record(event: KubernetesEvent): void {
    if (!this.#isGone) this.#node.record(this.#pod.metadata, event);
  }
}

const versionOf = (target: TargetView | undefined): number => Number(target?.status.resourceVersion ?? 0);

const isSame = (one: PodStatus, other: PodStatus): boolean => JSON.stringify(one) === JSON.stringify(other);
