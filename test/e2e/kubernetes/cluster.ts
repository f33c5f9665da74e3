/** The state of a small Kubernetes cluster with one node: namespaces, Pods with their workers, events and watches. */
import { randomUUID } from 'node:crypto';
import type { WorldEvent } from '../world.ts';
import { type Change, type Node, PodWorker } from './pod-worker.ts';
import type { KubernetesEvent, Metadata, Owner, Pod, PodSpec } from './spec.ts';
import { podOf } from './translation.ts';

export type Created = { readonly metadata: { readonly name?: string; readonly generateName?: string } };
export type CreatedPod = { readonly metadata: { readonly name: string }; readonly spec: PodSpec };

export type Recorded = KubernetesEvent & { readonly involvedObject: Owner };

/** With all Pods that it ever had, and what was recorded of them while it existed. */
export type Namespace = { readonly metadata: Metadata; readonly pods: PodWorker[]; readonly events: Recorded[] };

type Listener = (change: Change, pod: Pod) => void;

export class Cluster {
  /** What went wrong between the cluster and probelet, whatever the cases assert. */
  readonly faults: string[] = [];
  /** What probelet said of itself. */
  readonly notes: string[] = [];
  readonly #node: Node;
  readonly #namespaces = new Map<string, Namespace>();
  readonly #workers = new Map<string, PodWorker>();
  readonly #listeners = new Set<Listener>();
  readonly #created: ((namespace: Namespace) => void)[] = [];
  #version = 1;
  #pods = 0;

  constructor(node: Pick<Node, 'lifecycle' | 'runtime' | 'probelet'>) {
    this.#node = {
      ...node,
      record: (pod, event) => this.#namespaces.get(pod.namespace)?.events.push({ ...event, involvedObject: pod }),
      changed: (change, worker) => this.#changed(change, worker),
      fault: (text) => void this.faults.push(text),
    };
  }

  get resourceVersion(): string {
    return `${this.#version}`;
  }

  /** The next namespace that is created. */
  nextNamespace(): Promise<Namespace> {
    return new Promise((resolve) => void this.#created.push(resolve));
  }

  /** undefined: there is one of this name. The cases draw theirs by lot from 10,000, and draw again then. */
  createNamespace({ metadata: { name, generateName = '' } }: Created): Namespace | undefined {
    if (name !== undefined && this.#namespaces.has(name)) return undefined;
    const metadata = this.#metadata(name ?? `${generateName}${randomUUID().slice(0, 8)}`, '');
    const namespace = { metadata, pods: [], events: [] };
    this.#namespaces.set(metadata.name, namespace);
    for (const resolve of this.#created.splice(0)) resolve(namespace);
    return namespace;
  }

  namespace = (name: string): Namespace | undefined => this.#namespaces.get(name);

  /** Its Pods end without a grace period. */
  async deleteNamespace(name: string): Promise<void> {
    this.#namespaces.delete(name);
    await Promise.all(this.podsOf(name).map((worker) => worker.remove()));
  }

  createPod(namespace: Namespace, created: CreatedPod): Pod {
    const pod = podOf(created, this.#metadata(created.metadata.name, namespace.metadata.name));
    this.#pods += 1;
    const worker = new PodWorker(this.#node, pod, this.#pods);
    this.#workers.set(keyOf(pod.metadata), worker);
    namespace.pods.push(worker);
    this.#changed('ADDED', worker);
    this.#keepErrors(worker, worker.run());
    return pod;
  }

  podsOf = (namespace: string): readonly PodWorker[] =>
    [...this.#workers.values()].filter(({ pod }) => pod.metadata.namespace === namespace);

  pod = (namespace: string, name: string): PodWorker | undefined => this.#workers.get(keyOf({ namespace, name }));

  /** Calls the listener with each change of a Pod; returns what ends it. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** An event of probelet. */
  on(event: WorldEvent): void {
    const target = 'target' in event.detail ? event.detail.target : undefined;
    if (target === undefined) return void this.notes.push(`${event['detail-type']}: ${JSON.stringify(event.detail)}`);
    const worker = this.#workers.get(keyOf(target));
    if (worker) this.#keepErrors(worker, worker.on(event));
  }

  /** What is under way when a Pod is removed may fail. */
  #keepErrors(worker: PodWorker, work: Promise<void>): void {
    work.catch((error: unknown) => worker.isGone || this.#node.fault(`${worker.pod.metadata.name}: ${String(error)}`));
  }

  /** Ends all Pods. */
  async stop(): Promise<void> {
    await Promise.all([...this.#workers.values()].map((worker) => worker.remove()));
  }

  #metadata(name: string, namespace: string): Metadata {
    this.#version += 1;
    const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '');
    return { name, namespace, uid: randomUUID(), creationTimestamp, resourceVersion: this.resourceVersion };
  }

  #changed(change: Change, worker: PodWorker): void {
    this.#version += 1;
    if (change === 'DELETED') this.#workers.delete(keyOf(worker.pod.metadata));
    for (const listener of this.#listeners) listener(change, this.stamped(worker.pod));
  }

  /** As the API shows it now. */
  stamped = (pod: Pod): Pod => ({ ...pod, metadata: { ...pod.metadata, resourceVersion: this.resourceVersion } });
}

const keyOf = ({ namespace, name }: Pick<Metadata, 'namespace' | 'name'>): string => `${namespace}/${name}`;
