/**
 * Alerts at work: takes what is seen, plans, keeps the plan durable, and only then delivers.
 *
 * A notification that is sent before it is stored would be sent again after a crash under another id, and one that is
 * stored after it is sent may be lost. So one loop takes inputs in steps: it plans the new state and its notifications,
 * saves both, and releases the deliveries. A decision made before a crash is delivered after it, with the same id. If
 * saving fails, deliveries are released all the same: twice is better than never.
 */
import { type Clock, sleep } from '../lib/clock.ts';
import type { AlertRule } from './alert-rule.ts';
import { type AlertState, noAlerts } from './alert-state.ts';
import { type AlertTime, alertClock } from './alert-time.ts';
import { type Delivery, type DeliveryPorts, startDelivery } from './delivery.ts';
import { type AlertPlan, planAlerts } from './incident.ts';
import { aheadMs, alertLogVersion, byTheWall, clockStepMsMin, continued, type KeptAlerts } from './kept-alerts.ts';
import type { AlertInput } from './seen.ts';

/** Keeps one value durably. `save` replaces it as a whole or not at all. */
export type AlertLog = {
  /** Undefined: nothing is kept yet. @throws if it cannot be read at present */
  load(): Promise<KeptAlerts | undefined>;
  save(kept: KeptAlerts): Promise<void>;
  /** Puts away what cannot be used, for a person to look at. Never throws. */
  setAside(kept: KeptAlerts): Promise<void>;
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
/** The same while nothing is open: steps of the wall clock are noticed. */
const idleTickMs = 5_000;
/** The least time between two writes, so that a mass failure writes seldom. */
const saveRestMs = 200;
/** The rest after a write, as a multiple of its duration, so that a large state does not take much of a core. */
const saveRests = 9;
const saveRestMsMax = 10_000;
/** Inputs of one step, so that the event loop has its turns. */
const inputsPerStep = 200;
/** Inputs that wait. Further ones replace nothing: the next scan sees their targets again. */
const inputsMax = 20_000;

/** How long the kept state is asked for. What cannot be read for longer is given up, so that alerts go on. */
const loadMsMax = 30_000;

/** Continues where the kept state ends, as soon as it is read. */
export function startAlerting(options: AlertingOptions, ports: AlertingPorts): Alerting {
  const engine = new Engine(options, ports);
  engine.start();
  return {
    offer: (input) => engine.offer(input),
    configure: (next) => engine.configure(next),
    stop: () => engine.stop(),
  };
}

/** One loop plans and saves, so neither overlaps with itself. Whatever fails in it is logged, and it continues. */
class Engine {
  #options: AlertingOptions;
  readonly #ports: AlertingPorts;
  readonly #clock: Clock;
  readonly #time: () => AlertTime;
  readonly #stopped = new AbortController();
  /** Absent until the kept state is read. */
  #delivery: Delivery | undefined;
  #inputs: AlertInput[] = [];
  #state: AlertState = noAlerts;
  /** The state or the outbox differs from what is kept. */
  #isDirty = false;
  /** How far the wall clock was ahead of steady time at the last save. */
  #keptAheadMs = 0;
  /** The last write failed. */
  #isFailing = false;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: AlertingOptions, ports: AlertingPorts) {
    this.#options = options;
    this.#ports = ports;
    this.#clock = ports.clock;
    this.#time = alertClock(ports.clock);
  }

  start(): void {
    this.#running = this.#run();
  }

  offer(input: AlertInput): void {
    if (this.#inputs.length >= inputsMax) return;
    this.#inputs.push(input);
    this.#wake();
  }

  configure(options: AlertingOptions): void {
    this.#options = options;
    if (!this.#delivery) return;
    this.#delivery.configure(options.receivers);
    this.#isDirty = true;
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
    await this.#delivery?.stop();
    await this.#running;
    if (this.#isDirty && this.#delivery) await this.#save(this.#delivery);
  }

  async #run(): Promise<void> {
    const kept = await this.#load();
    if (this.#stopped.signal.aborted) return;
    this.#state = kept ? continued(kept.state, this.#time()) : noAlerts;
    const delivery = this.#startDelivery(kept);
    while (!this.#stopped.signal.aborted) {
      await this.#step(delivery);
      if (this.#isDirty) {
        const begunMs = this.#clock.monotonicMs();
        const isSaved = await this.#save(delivery);
        const restMs = Math.min((this.#clock.monotonicMs() - begunMs) * saveRests, saveRestMsMax);
        await sleep(this.#clock, Math.max(isSaved ? saveRestMs : tickMs, restMs), this.#stopped.signal);
      } else await this.#rest();
    }
  }

  /** What is offered meanwhile waits. */
  async #load(): Promise<KeptAlerts | undefined> {
    const { alertLog, log } = this.#ports;
    const untilMs = this.#clock.monotonicMs() + loadMsMax;
    for (let tries = 1; !this.#stopped.signal.aborted; tries += 1) {
      try {
        return await alertLog.load();
      } catch (error) {
        const isOver = this.#clock.monotonicMs() >= untilMs;
        if (isOver) log.error('kept alerts cannot be read: open incidents are reported again', { error, tries });
        else if (tries === 1) log.warn('kept alerts cannot be read yet, and no alert is sent', { error });
        if (isOver) return undefined;
        await sleep(this.#clock, tickMs, this.#stopped.signal);
      }
    }
    return undefined;
  }

  #startDelivery(kept: KeptAlerts | undefined): Delivery {
    const onChange = () => {
      this.#isDirty = true;
      this.#wake();
    };
    const delivery = startDelivery(this.#options.receivers, kept?.outbox ?? {}, { ...this.#ports, onChange });
    delivery.release();
    this.#delivery = delivery;
    return delivery;
  }

  async #step(delivery: Delivery): Promise<void> {
    const { state, notifications } = await this.#plan(this.#inputs.splice(0, inputsPerStep));
    if (state !== this.#state || notifications.length > 0 || this.#isClockSet()) this.#isDirty = true;
    this.#state = state;
    for (const notification of notifications) delivery.add(notification);
  }

  /** What cannot be planned is dropped: first what was seen, which the next scan sees again, then what is kept. */
  async #plan(inputs: readonly AlertInput[]): Promise<AlertPlan> {
    const { log, alertLog } = this.#ports;
    const planned = (state: AlertState, taken: readonly AlertInput[]) =>
      planAlerts(state, { ...this.#options, inputs: taken }, this.#time());
    try {
      return planned(this.#state, inputs);
    } catch (error) {
      log.error('alerts cannot be decided from what was seen: it is dropped until the next scan', { error });
    }
    try {
      return planned(this.#state, []);
    } catch (error) {
      log.error('kept alerts cannot be used: set aside, and open incidents are reported again', { error });
    }
    await alertLog.setAside(this.#kept({}));
    return { state: noAlerts, notifications: [] };
  }

  /** Since the last save, by which what is kept would be wrong. */
  #isClockSet(): boolean {
    return Math.abs(aheadMs(this.#time()) - this.#keptAheadMs) >= clockStepMsMin;
  }

  #kept(outbox: KeptAlerts['outbox']): KeptAlerts {
    return { version: alertLogVersion, state: byTheWall(this.#state, this.#time()), outbox };
  }

  /** Alerts that cannot be kept are sent all the same: better twice after a crash than not at all. */
  async #save(delivery: Delivery): Promise<boolean> {
    this.#isDirty = false;
    this.#keptAheadMs = aheadMs(this.#time());
    try {
      await this.#ports.alertLog.save(this.#kept(delivery.outbox()));
      this.#isFailing = false;
    } catch (error) {
      this.#isDirty = true;
      if (!this.#isFailing)
        this.#ports.log.error('alerts cannot be kept: free some space or correct the permissions', { error });
      this.#isFailing = true;
    }
    if (!this.#stopped.signal.aborted) delivery.release();
    return !this.#isFailing;
  }

  /** Until there is something to do, or the next tick if something is open. */
  async #rest(): Promise<void> {
    if (this.#inputs.length > 0) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const { incidents, batches } = this.#state;
    const isOpen = Object.keys(incidents).length + Object.keys(batches).length > 0;
    await sleep(this.#clock, isOpen ? tickMs : idleTickMs, AbortSignal.any([woken.signal, this.#stopped.signal]));
  }
}
