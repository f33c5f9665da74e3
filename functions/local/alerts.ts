/** Alerts of one process: reads each target again after its events, and all of them from time to time. */
import { existsSync } from 'node:fs';
import { type Alerting, type AlertingPorts, type AlertLog, startAlerting } from '../../shared/alerts/alerting.ts';
import { type DegradedRange, seenTarget } from '../../shared/alerts/seen.ts';
import type { EventEnvelope } from '../../shared/bus/envelope.ts';
import type { InProcessBus } from '../../shared/bus/in-process.ts';
import { bucketCount } from '../../shared/core/slots.ts';
import type { AllowList } from '../../shared/exec/allow-list.ts';
import { type Clock, sleep } from '../../shared/lib/clock.ts';
import type { Log } from '../../shared/lib/log.ts';
import { pacer } from '../../shared/lib/pace.ts';
import type { Random } from '../../shared/lib/random.ts';
import { bucketName, bucketPk, targetAddress } from '../../shared/store/keys.ts';
import type { Store } from '../../shared/store/store.ts';
import { assembleTarget, groupedByTarget, readTarget } from '../../shared/table/targets.ts';
import { alertFile, noAlertFile } from './alert-file.ts';
import { alertSender } from './alert-sender.ts';
import type { AlertSetup } from './config-file.ts';
import type { DataDir } from './data-dir.ts';
import type { ShardHost } from './shard-host.ts';

export type LocalAlertPorts = {
  readonly store: Store;
  readonly bus: Pick<InProcessBus, 'subscribe'>;
  readonly shard: Pick<ShardHost, 'view'>;
  readonly clock: Clock;
  /** In place of `clock`. */
  readonly alertClock?: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The commands that receivers may run. Absent: none. */
  readonly allows?: AllowList | undefined;
};

/** After a start the stored statuses are old until the targets have been probed again. */
const firstScanMs = 30_000;
/** Events are lost only if the bus drops them. */
const scanEveryMs = 300_000;
const scanSliceMs = 5;

const events = [
  ...['Target Status Changed', 'Container Restart Requested', 'Container Recovered', 'Target Sync Requested'],
  ...['Prober Degraded', 'Prober Recovered'],
];

export type LocalAlerts = {
  /**
   * Starts with the first alert that is configured, or to end what an earlier process has kept, and follows each later
   * configuration.
   */
  configure(setup: AlertSetup): void;
  /** Keeps what is not delivered yet, and ends. */
  stop(): Promise<void>;
};

type Running = {
  /** Also looks at all targets, for rules that are new. */
  readonly configure: (setup: AlertSetup) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export function localAlerts({ alertsPath }: DataDir, given: LocalAlertPorts): LocalAlerts {
  const ports = { ...given, clock: given.alertClock ?? given.clock };
  const alertLog = alertsPath === undefined ? noAlertFile : alertFile(alertsPath, ports.log);
  const hasKept = () => alertsPath !== undefined && existsSync(alertsPath);
  let running: Running | undefined;
  return {
    configure(setup) {
      if (running)
        running.configure(setup).catch((error: unknown) => ports.log.warn('targets not read for alerts', { error }));
      else if (setup.rules.length > 0 || hasKept()) running = startAlerts(setup, { ...ports, alertLog });
    },
    async stop() {
      await running?.stop();
    },
  };
}

/** Starts in the background. */
function startAlerts(setup: AlertSetup, ports: LocalAlertPorts & { readonly alertLog: AlertLog }): Running {
  const alerting = startSending(setup, ports);
  const stopped = new AbortController();
  const settledMs = ports.clock.monotonicMs() + firstScanMs;
  let { rules } = setup;
  const isOn = () => rules.length > 0;
  const { offer } = alerting;
  const watching = { ...ports, isOn };
  const unsubscribe = subscribeAlerts(offer, watching);
  void scanRegularly(offer, watching, stopped.signal);
  return {
    async configure(next) {
      rules = next.rules;
      alerting.configure(next);
      if (isOn() && ports.clock.monotonicMs() >= settledMs) await scanOnce(offer, ports);
    },
    async stop() {
      stopped.abort();
      unsubscribe();
      await alerting.stop();
    },
  };
}

type SendingPorts = Omit<AlertingPorts, 'send'> & Pick<LocalAlertPorts, 'allows'>;

type Sending = Pick<Alerting, 'offer' | 'stop'> & { readonly configure: (setup: AlertSetup) => void };

function startSending(setup: AlertSetup, ports: SendingPorts): Sending {
  const sender = alertSender(setup.receivers, ports);
  const alerting = startAlerting(namedReceivers(setup), { ...ports, send: sender.send });
  return {
    offer: alerting.offer,
    configure(next) {
      sender.configure(next.receivers);
      alerting.configure(namedReceivers(next));
    },
    async stop() {
      await alerting.stop();
      await sender.close();
    },
  };
}

const namedReceivers = ({ rules, receivers }: AlertSetup) => ({ rules, receivers: receivers.map(({ name }) => name) });

type Offer = Alerting['offer'];

/** `isOn`: without alerts no target is read. */
type WatchingPorts = LocalAlertPorts & { readonly isOn: () => boolean };

function subscribeAlerts(offer: Offer, { store, bus, clock, isOn }: WatchingPorts): () => void {
  const degraded = new Map<string, DegradedRange>();
  const take = async ({ 'detail-type': type, detail }: EventEnvelope) => {
    if ('target' in detail) {
      if (!isOn()) return;
      const { namespace, name } = detail.target;
      const state = await readTarget(store, targetAddress(namespace, name));
      offer(state ? seenTarget(state, clock.nowMs()) : { kind: 'gone', namespace, name });
    } else if ('since' in detail) {
      const { shard, hashRange, since } = detail;
      const reason = 'reason' in detail ? detail.reason : '';
      if (type === 'Prober Degraded') degraded.set(hashRange, { shard, hashRange, reason, sinceMs: Date.parse(since) });
      else degraded.delete(hashRange);
      offer({ kind: 'prober', degraded: [...degraded.values()] });
    }
  };
  return bus.subscribe({ source: ['probelet'], 'detail-type': events }, take, { name: 'alerts' });
}

async function scanRegularly(offer: Offer, ports: WatchingPorts, signal: AbortSignal): Promise<void> {
  await sleep(ports.clock, firstScanMs, signal);
  while (!signal.aborted) {
    if (ports.isOn())
      await scanOnce(offer, ports).catch((error: unknown) => ports.log.warn('targets not read for alerts', { error }));
    await sleep(ports.clock, scanEveryMs, signal);
  }
}

async function scanOnce(offer: Offer, { store, clock, shard }: LocalAlertPorts): Promise<void> {
  const view = shard.view();
  if (view && !view.beat.doubt) offer({ kind: 'prober', degraded: [] });
  const startedMs = clock.nowMs();
  const problems = new Set<string>();
  const pace = pacer(clock, scanSliceMs);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const items = await store.query({ pk: bucketPk(bucketName(bucket)) });
    for (const target of groupedByTarget(items).values()) {
      await pace();
      const read = assembleTarget(target).target;
      const seen = read && seenTarget(read, clock.nowMs());
      if (seen?.kind !== 'target' || (seen.ready === 'True' && !seen.restart)) continue;
      problems.add(`${seen.namespace}/${seen.name}`);
      offer(seen);
    }
  }
  offer({ kind: 'scanned', startedMs, problems });
}
