/** Alerts of one process: reads each target again after its events, and all of them from time to time. */
import { existsSync } from 'node:fs';
import { type Alerting, type AlertingPorts, type AlertLog, startAlerting } from '../../../shared/alerts/alerting.ts';
import type { EventEnvelope } from '../../../shared/bus/bus.ts';
import type { InProcessBus } from '../../../shared/bus/in-process.ts';
import type { AllowList } from '../../../shared/exec/allow-list.ts';
import { type Clock, sleep } from '../../../shared/lib/clock.ts';
import type { Log } from '../../../shared/lib/log.ts';
import type { Random } from '../../../shared/lib/random.ts';
import type { Store } from '../../../shared/store/store.ts';
import type { AlertSetup } from '../config/config-file.ts';
import type { DataDir } from '../process/data-dir.ts';
import type { ShardHost } from '../process/shard-host.ts';
import type { StoreProblem } from '../process/store-health.ts';
import { alertFile, noAlertFile } from './alert-file.ts';
import { proberProblems } from './alert-prober.ts';
import { alertSender } from './alert-sender.ts';
import { type AlertTargets, alertTargets } from './alert-targets.ts';

export type LocalAlertPorts = {
  readonly store: Store;
  readonly bus: Pick<InProcessBus, 'subscribe'>;
  readonly shard: Pick<ShardHost, 'view'>;
  /** What the store has failed with. */
  readonly storeProblem: () => StoreProblem | undefined;
  readonly clock: Clock;
  /** In place of `clock`. */
  readonly alertClock?: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The commands that receivers may run. Absent: none. */
  readonly allows?: AllowList | undefined;
  /** Opens what keeps the alerts, for tests with a disk that fails. */
  readonly openAlertLog?: typeof alertFile;
  /** Opens what sends, for tests with receivers that fail. */
  readonly openSender?: typeof alertSender;
};

/** After a start the stored statuses are old until the targets have been probed again. */
const firstScanMs = 30_000;
/** Events are lost only if the bus drops them. */
const scanEveryMs = 300_000;
/** Results become too old to be shown without an event. */
const uncertainScanEveryMs = 60_000;
/** How often the prober is looked at, and whether a scan is due. */
const lookMs = 5_000;

const events = ['Target Status Changed', 'Container Restart Requested', 'Container Recovered', 'Target Sync Requested'];

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
  /** Also has all targets read soon, for rules that are new. */
  readonly configure: (setup: AlertSetup) => void;
  readonly stop: () => Promise<void>;
};

export function localAlerts({ alertsPath }: DataDir, given: LocalAlertPorts): LocalAlerts {
  const ports = { ...given, clock: given.alertClock ?? given.clock, storeClock: given.clock };
  const { openAlertLog = alertFile } = given;
  const alertLog = alertsPath === undefined ? noAlertFile : openAlertLog(alertsPath, ports.log);
  const hasKept = () => alertsPath !== undefined && existsSync(alertsPath);
  let running: Running | undefined;
  return {
    configure(setup) {
      if (running) running.configure(setup);
      else if (setup.rules.length > 0 || hasKept()) running = startAlerts(setup, { ...ports, alertLog });
    },
    async stop() {
      await running?.stop();
    },
  };
}

type StartPorts = LocalAlertPorts & {
  readonly alertLog: AlertLog;
  /** What is stored is as old as this clock says. */
  readonly storeClock: Clock;
};

/** Starts in the background. */
function startAlerts(setup: AlertSetup, ports: StartPorts): Running {
  const alerting = startSending(setup, ports);
  const stopped = new AbortController();
  const scan = { isWanted: false };
  let { rules } = setup;
  const { offer } = alerting;
  const targets = alertTargets(offer, { store: ports.store, clock: ports.storeClock });
  const problems = proberProblems({ ...ports, clock: ports.storeClock });
  const watching = { ...ports, targets, problems, isOn: () => rules.length > 0 };
  const unsubscribe = subscribeAlerts(watching);
  void watchProber(offer, watching, stopped.signal);
  void scanRegularly(scan, watching, stopped.signal);
  return {
    configure(next) {
      rules = next.rules;
      alerting.configure(next);
      scan.isWanted = true;
    },
    async stop() {
      stopped.abort();
      unsubscribe();
      await alerting.stop();
    },
  };
}

type SendingPorts = Omit<AlertingPorts, 'send'> & Pick<LocalAlertPorts, 'allows' | 'openSender'>;

type Sending = Pick<Alerting, 'offer' | 'stop'> & { readonly configure: (setup: AlertSetup) => void };

function startSending(setup: AlertSetup, ports: SendingPorts): Sending {
  const { openSender = alertSender } = ports;
  const sender = openSender(setup.receivers, ports);
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
type WatchingPorts = Pick<LocalAlertPorts, 'bus' | 'shard' | 'clock' | 'log'> & {
  readonly targets: AlertTargets;
  readonly problems: ReturnType<typeof proberProblems>;
  readonly isOn: () => boolean;
};

function subscribeAlerts({ bus, targets, isOn }: WatchingPorts): () => void {
  const take = async ({ detail }: EventEnvelope) => {
    if ('target' in detail && isOn()) await targets.look(detail.target.namespace, detail.target.name);
  };
  return bus.subscribe({ source: ['probelet'], 'detail-type': events }, take, { name: 'alerts' });
}

async function watchProber(offer: Offer, { clock, isOn, problems }: WatchingPorts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const degraded = problems();
    if (degraded && isOn()) offer({ kind: 'prober', degraded });
    await sleep(clock, lookMs, signal);
  }
}

/** Scans when that is wanted, and from time to time: more often while results may be too old to be shown. */
async function scanRegularly(scan: { isWanted: boolean }, ports: WatchingPorts, signal: AbortSignal): Promise<void> {
  const { clock, log, shard, targets, isOn } = ports;
  await sleep(clock, firstScanMs, signal);
  let scannedMs = Number.NEGATIVE_INFINITY;
  let wasUncertain = false;
  while (!signal.aborted) {
    const view = shard.view();
    const isUncertain = !view || view.beat.doubt !== undefined || view.beat.late > 0;
    wasUncertain ||= isUncertain;
    const isDue = clock.monotonicMs() - scannedMs >= (wasUncertain ? uncertainScanEveryMs : scanEveryMs);
    if (isOn() && (scan.isWanted || isDue)) {
      scan.isWanted = false;
      wasUncertain = isUncertain;
      scannedMs = clock.monotonicMs();
      await targets.scan().catch((error: unknown) => log.warn('targets not read for alerts', { error }));
    }
    await sleep(clock, lookMs, signal);
  }
}
