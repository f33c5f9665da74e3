/**
 * Has another process look at targets that fail here, before many of them turn unhealthy: a sandbox may reach its
 * canaries and none of its targets. While the other place reaches what still fails here, this prober doubts itself.
 * Neither place asks a target that its worker would not probe.
 */
import {
  contradicts,
  lookWindowMs,
  needsSecondLook,
  recentMax,
  type Seen,
  sampleMax,
  seenIn,
} from '../../core/self/second-look.ts';
import { sleep } from '../../lib/clock.ts';
import { type ProbeOrder, probe } from '../../prober/probe.ts';
import { QueueUnavailable, type SampledProbe } from '../../queue/queue.ts';
import { decodeRun } from '../../store/records/items.ts';
import { runKey } from '../../store/records/keys.ts';
import { StoreUnavailable } from '../../store/store.ts';
import type { RunLike, SecondPlacePort } from '../run.ts';

/** Longer than a cold start, the time-outs of the sample and the write of the answer together take. */
const answerMsMax = 15_000;
const lookMs = 500;
/** In doubt, and while no place has agreed that the targets fail, another look is asked for this often. */
const againMs = 15_000;

export type SecondPlace = {
  /** This probe failed here, and its target is not known as failed. */
  failed(dialled: Dialled): void;
  succeeded(target: Named): void;
  /** Resolves with the answer that is awaited; undefined: none is. */
  awaited(): Promise<void> | undefined;
  disagrees(): boolean;
  /** Waits for no answer any more, and resolves when no request is under way. */
  stop(): Promise<void>;
};

type Named = Pick<SampledProbe, 'namespace' | 'name'>;

/** The worker of a probe over the network. */
export type Dialled = {
  readonly spec: { readonly order: ProbeOrder };
  /** What it would ask now; undefined: it would not probe. */
  orderNow(run: RunLike): ProbeOrder | undefined;
};

/** A prober without another place believes itself. */
const alone: SecondPlace = {
  failed: () => undefined,
  succeeded: () => undefined,
  awaited: () => undefined,
  disagrees: () => false,
  stop: async () => undefined,
};

/** `onDisagreed`: called when the other place disagrees; `awaited` waits for it. */
export const secondPlaceOf = (run: RunLike, onDisagreed: () => Promise<void>): SecondPlace =>
  run.ports.secondPlace === undefined ? alone : new AskedPlace(run, run.ports.secondPlace, onDisagreed);

class AskedPlace implements SecondPlace {
  readonly #run: RunLike;
  readonly #port: SecondPlacePort;
  readonly #onDisagreed: () => Promise<void>;
  readonly #over = new AbortController();
  readonly #end = () => this.#over.abort();
  /** The last results, 1 for a failure; the oldest is overwritten next. */
  readonly #recent = new Uint8Array(recentMax);
  #next = 0;
  #failures = 0;
  /** By name, which a target keeps when it is registered again; the one that failed last at the end. */
  readonly #failing = new Map<string, Dialled>();
  #number = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** The last answer said that what fails here fails there, too. */
  #isAgreed = false;
  /** By the last answer, if what succeeds there still fails here. */
  #disagrees = false;
  #asking: Promise<void> | undefined;

  constructor(run: RunLike, port: SecondPlacePort, onDisagreed: () => Promise<void>) {
    this.#run = run;
    this.#port = port;
    this.#onDisagreed = onDisagreed;
    run.signal.addEventListener('abort', this.#end);
  }

  failed(dialled: Dialled): void {
    this.#count(1);
    const name = nameOf(dialled.spec.order.target);
    this.#failing.delete(name);
    this.#failing.set(name, dialled);
    for (const [oldest] of this.#failing) {
      if (this.#failing.size <= recentMax) break;
      this.#failing.delete(oldest);
    }
    if (this.#asking || this.#over.signal.aborted || !needsSecondLook(this.#failures)) return;
    const nowMs = this.#run.ports.clock.monotonicMs();
    if (nowMs - this.#askedAtMs < (this.#isAgreed ? lookWindowMs : againMs)) return;
    const sample = sampleOf(
      [...this.#failing.values()].filter((one) => one.orderNow(this.#run) !== undefined),
      this.#run.ports.random,
    );
    if (sample.length === 0) return;
    this.#askedAtMs = nowMs;
    this.#asking = this.#ask(sample).finally(() => {
      this.#asking = undefined;
    });
  }

  succeeded(target: Named): void {
    this.#count(0);
    if (this.#failing.size > 0) this.#failing.delete(nameOf(target));
  }

  awaited(): Promise<void> | undefined {
    return this.#asking;
  }

  disagrees(): boolean {
    return this.#disagrees && needsSecondLook(this.#failures);
  }

  async stop(): Promise<void> {
    this.#over.abort();
    this.#run.signal.removeEventListener('abort', this.#end);
    await this.#asking;
  }

  #count(failure: 0 | 1): void {
    this.#failures += failure - (this.#recent[this.#next] ?? 0);
    this.#recent[this.#next] = failure;
    this.#next = (this.#next + 1) % recentMax;
  }

  async #ask(sample: readonly Dialled[]): Promise<void> {
    const { ports, message } = this.#run;
    this.#number += 1;
    const there = (await this.#send(this.#ordersOf(sample))) ? await this.#answer() : undefined;
    // What has failed here for a moment only succeeds here again, too.
    const isContrary = there !== undefined && contradicts(there) && !this.#over.signal.aborted;
    const here = isContrary ? await this.#seenHere(this.#ordersOf(sample)) : undefined;
    if (this.#over.signal.aborted) return;
    // Who could look at none of them has not agreed.
    this.#isAgreed = there !== undefined && there.failed > 0 && !contradicts(there);
    this.#disagrees = here !== undefined && !contradicts(here);
    ports.log.warn('second look', { shard: message.shard, failures: this.#failures, there, here });
    if (this.disagrees()) await this.#onDisagreed();
  }

  #ordersOf(sample: readonly Dialled[]): readonly ProbeOrder[] {
    return sample.flatMap((one) => one.orderNow(this.#run) ?? []);
  }

  /** undefined: meanwhile none of them may be probed any more. */
  async #seenHere(orders: readonly ProbeOrder[]): Promise<Seen | undefined> {
    if (orders.length === 0) return undefined;
    return seenIn(await Promise.all(orders.map((order) => probe(this.#run.ports, order))));
  }

  async #send(sample: readonly ProbeOrder[]): Promise<boolean> {
    const { ports, message, token } = this.#run;
    const { place, send } = this.#port;
    const { shard } = message;
    const id = `look#${shard}#${token}#${this.#number}`;
    const look = { kind: 'look', shard, token, place, number: this.#number } as const;
    try {
      await send(
        { ...look, sample: sample.map(sampledOf), sentAtMs: Math.floor(ports.clock.nowMs()) },
        { group: id, deduplicationId: id },
      );
      return true;
    } catch (cause) {
      if (!(cause instanceof QueueUnavailable)) throw cause;
      ports.log.warn('second look not asked for', { shard, cause });
      return false;
    }
  }

  /** undefined: no other process has answered in time, so this one believes itself. */
  async #answer(): Promise<Seen | undefined> {
    const { ports, message, token } = this.#run;
    const { signal } = this.#over;
    const untilMs = ports.clock.monotonicMs() + answerMsMax;
    while (!signal.aborted && ports.clock.monotonicMs() < untilMs) {
      await sleep(ports.clock, lookMs, signal);
      const look = signal.aborted ? undefined : await this.#read(message.shard);
      if (look?.token === token && look.number === this.#number) return look;
    }
    return undefined;
  }

  async #read(shard: string) {
    try {
      const item = await this.#run.ports.store.get(runKey(shard));
      const decoded = item && decodeRun(item);
      return decoded?.kind === 'ok' ? decoded.record.look : undefined;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return undefined;
    }
  }
}

const sampledOf = ({ target: { namespace, name }, container, probeType }: ProbeOrder): SampledProbe => ({
  namespace,
  name,
  container: container.name,
  probeType,
});

const nameOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;

/** Some of them by chance: those that failed first may fail for a reason of their own. */
function sampleOf<Probe>(probes: readonly Probe[], random: { next(): number }): readonly Probe[] {
  const left = [...probes];
  const sample: Probe[] = [];
  while (left.length > 0 && sample.length < sampleMax)
    sample.push(...left.splice(Math.floor(random.next() * left.length), 1));
  return sample;
}
