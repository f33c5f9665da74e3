/**
 * Alerts at work: takes what is seen, plans, keeps the plan durable, and only then delivers. What was decided before a
 * crash is delivered after it, with the same id.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import type { AlertRule } from './alert-rule.ts';
import { type AlertState, noAlerts } from './alert-state.ts';
import { type AlertOutbox, type Delivery, type DeliveryPorts, startDelivery } from './delivery.ts';
import { planAlerts } from './incident.ts';
import type { AlertInput } from './seen.ts';

export const alertLogVersion = 1;

/** What survives the process. */
export type KeptAlerts = {
  readonly version: typeof alertLogVersion;
  readonly state: AlertState;
  readonly outbox: AlertOutbox;
};

/** Keeps one value durably. `save` replaces it as a whole or not at all. */
export type AlertLog = {
  /** Undefined: nothing is kept yet. */
  load(): Promise<KeptAlerts | undefined>;
  save(kept: KeptAlerts): Promise<void>;
};

export type AlertingOptions = { readonly rules: readonly AlertRule[]; readonly receivers: readonly string[] };
export type AlertingPorts = Omit<DeliveryPorts, 'onChange'> & { readonly alertLog: AlertLog };

export type Alerting = {
  /** Takes what was seen. Never throws, never waits. */
  offer(input: AlertInput): void;
  /**
   * Replaces rules and receivers from the next decision on. Incidents of alerts that are gone end; in place of a
   * receiver that is gone, those that the alert names now learn of what lasts.
   */
  configure(options: AlertingOptions): void;
  stop(): Promise<void>;
};

/** How often time is let pass while something is open. */
const tickMs = 1_000;
/** The least time between two writes, so that a mass failure writes seldom. */
const saveRestMs = 200;
/** Inputs of one step, so that the event loop has its turns. */
const inputsPerStep = 200;
/** Inputs that wait. Further ones replace nothing: the next scan sees their targets again. */
const inputsMax = 20_000;

/** Continues where the kept state ends. */
export async function startAlerting(options: AlertingOptions, ports: AlertingPorts): Promise<Alerting> {
  const kept = await ports.alertLog.load();
  const engine = new Engine(options, ports, kept);
  engine.start();
  return {
    offer: (input) => engine.offer(input),
    configure: (next) => engine.configure(next),
    stop: () => engine.stop(),
  };
}

/** One loop plans and saves, so neither overlaps with itself. */
class Engine {
  #options: AlertingOptions;
  readonly #ports: AlertingPorts;
  readonly #clock: Clock;
  readonly #delivery: Delivery;
  readonly #stopped = new AbortController();
  #inputs: AlertInput[] = [];
  #state: AlertState;
  /** The state or the outbox differs from what is kept. */
  #isDirty = false;
  /** The last write failed. */
  #isFailing = false;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: AlertingOptions, ports: AlertingPorts, kept: KeptAlerts | undefined) {
    this.#options = options;
    this.#ports = ports;
    this.#clock = ports.clock;
    this.#state = kept?.state ?? noAlerts;
    const onChange = () => {
      this.#isDirty = true;
      this.#wake();
    };
    this.#delivery = startDelivery(options.receivers, kept?.outbox ?? {}, { ...ports, onChange });
  }

  start(): void {
    this.#delivery.release();
    this.#running = this.#run();
  }

  offer(input: AlertInput): void {
    if (this.#inputs.length >= inputsMax) return;
    this.#inputs.push(input);
    this.#wake();
  }

  configure(options: AlertingOptions): void {
    this.#options = options;
    this.#delivery.configure(options.receivers);
    this.#isDirty = true;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#delivery.stop();
    await this.#running;
    if (this.#isDirty) await this.#save();
  }

  async #run(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      this.#step();
      if (this.#isDirty) {
        const isSaved = await this.#save();
        await sleep(this.#clock, isSaved ? saveRestMs : tickMs, this.#stopped.signal);
      } else await this.#rest();
    }
  }

  #step(): void {
    const inputs = this.#inputs.splice(0, inputsPerStep);
    const { state, notifications } = planAlerts(this.#state, { ...this.#options, inputs }, this.#clock.nowMs());
    if (state !== this.#state || notifications.length > 0) this.#isDirty = true;
    this.#state = state;
    for (const notification of notifications) this.#delivery.add(notification);
  }

  /** Alerts that cannot be kept are sent all the same: better twice after a crash than not at all. */
  async #save(): Promise<boolean> {
    this.#isDirty = false;
    const kept = { version: alertLogVersion, state: this.#state, outbox: this.#delivery.outbox() } as const;
    try {
      await this.#ports.alertLog.save(kept);
      this.#isFailing = false;
    } catch (error) {
      this.#isDirty = true;
      if (!this.#isFailing)
        this.#ports.log.error('alerts cannot be kept: free some space or correct the permissions', { error });
      this.#isFailing = true;
    }
    if (!this.#stopped.signal.aborted) this.#delivery.release();
    return !this.#isFailing;
  }

  /** Until there is something to do, or the next tick if something is open. */
  async #rest(): Promise<void> {
    if (this.#inputs.length > 0) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const { incidents, batches } = this.#state;
    const isOpen = Object.keys(incidents).length + Object.keys(batches).length > 0;
    if (isOpen) await sleep(this.#clock, tickMs, AbortSignal.any([woken.signal, this.#stopped.signal]));
    else await aborted(AbortSignal.any([woken.signal, this.#stopped.signal]));
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
