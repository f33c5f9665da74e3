/** One container of a Pod until the Pod's end: what runs, what has ended, and when the next may start. */
import { sleep, systemClock } from '../../../shared/lib/clock.ts';
import { type BackOff, nextBackOff, startsAtMs } from './back-off.ts';
import type { End, Running, Sandbox } from './runtime.ts';
import type { ContainerSpec, ContainerState } from './spec.ts';
import type { RuntimeState } from './translation.ts';

/** kubelet gives a container that long at least (minimumGracePeriodInSeconds). */
const graceSecondsMin = 2;

type StartAgain = {
  readonly onBackOff: () => Promise<void>;
  /** Whether the Pod has begun to terminate. */
  readonly isOver: () => boolean;
};

export class Container {
  readonly spec: ContainerSpec;
  readonly isSidecar: boolean;
  #sandbox: Sandbox;
  #running: Running | undefined;
  #last: Running | undefined;
  #stopping: Running | undefined;
  #state: ContainerState = { waiting: { reason: 'PodInitializing' } };
  #lastState: ContainerState = {};
  #starts = 0;
  #backOff: BackOff | undefined;
  /** Of the container before the one that runs. */
  #endedBeforeMs: number | undefined;

  constructor(spec: ContainerSpec, isSidecar: boolean, sandbox: Sandbox) {
    this.spec = spec;
    this.isSidecar = isSidecar;
    this.#sandbox = sandbox;
  }

  /** Undefined: none runs. */
  get running(): Running | undefined {
    return this.#running;
  }

  get state(): RuntimeState {
    const { name } = this.spec;
    const containerID = this.#last?.containerID;
    return {
      name,
      ...(containerID !== undefined && { containerID }),
      state: this.#state,
      lastState: this.#lastState,
      restartCount: Math.max(0, this.#starts - 1),
    };
  }

  async start(): Promise<Running> {
    const running = await this.#sandbox.start(this.spec);
    this.#starts += 1;
    this.#running = running;
    this.#last = running;
    this.#state = { running: { startedAt: new Date(running.startedAtMs).toISOString() } };
    return running;
  }

  /** Stops what runs, if anything does. */
  async stop(graceSeconds: number): Promise<void> {
    const running = this.#running;
    if (running === undefined) return;
    this.#stopping = running;
    this.ended(running, await running.stop(Math.max(graceSecondsMin, graceSeconds)));
  }

  isStopping = (running: Running): boolean => this.#stopping === running;

  /** What ran has ended. */
  ended(running: Running, { exitCode, finishedAtMs }: End): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    const times = {
      startedAt: new Date(running.startedAtMs).toISOString(),
      finishedAt: new Date(finishedAtMs).toISOString(),
    };
    this.#state = { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', ...times } };
  }

  /**
   * Starts the next container after one that a probe has failed. kubelet kills and starts in one sync, in which the
   * killed container does not count as ended yet; once it waits for its back-off, it does.
   */
  async startAgain({ onBackOff, isOver }: StartAgain): Promise<void> {
    const { terminated } = this.#state;
    if (terminated === undefined) return;
    const endedAtMs = Date.parse(terminated.finishedAt);
    this.#lastState = this.#state;
    let countsFromMs = this.#endedBeforeMs;
    if (startsAtMs(this.#backOff, countsFromMs) > Date.now()) {
      countsFromMs = endedAtMs;
      this.#state = {
        waiting: { reason: 'CrashLoopBackOff', message: `restarting failed container=${this.spec.name}` },
      };
      await onBackOff();
      await sleep(systemClock, Math.max(0, startsAtMs(this.#backOff, countsFromMs) - Date.now()));
    }
    if (isOver()) return;
    this.#backOff = nextBackOff(this.#backOff, countsFromMs, Date.now());
    this.#endedBeforeMs = endedAtMs;
    await this.start();
  }
}
