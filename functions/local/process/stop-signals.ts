/** The signals that end a process of `npm start`. */
import { isatty } from 'node:tty';
import type { Log } from '../../../shared/lib/log.ts';

/** The exit code of a stop that failed or timed out. */
const exitFailed = 1;
/**
 * A longer stop is cut short, because all important state is already durable. Probes in flight have 2 s of this time, a
 * worker's last polls 3 s. The process is documented to end within 5 s of the signal.
 */
const stopMaxMs = 4_000;
const standardStreams = [0, 1, 2];

export type Stopping = {
  readonly log: Log;
  /** Called once, on the first signal. */
  readonly stop: () => Promise<void>;
  /** Called on SIGHUP without a terminal. */
  readonly reload?: () => void;
};

/**
 * The first SIGTERM or SIGINT stops the process. It exits with 0, or with 1 if the stop fails or takes longer than 4 s,
 * and logs which. Later signals have no effect, because npm forwards a SIGINT that the terminal has also sent to the
 * process.
 *
 * SIGHUP stops a process whose terminal closes. Without a terminal it reloads the configuration. Where there is none it
 * is ignored, as under `nohup`: Node resets the ignored signal that `nohup` sets (`PlatformInit` in its src/node.cc).
 */
export function stopOnSignal({ log, stop, reload = () => undefined }: Stopping): void {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    void endBy(signal, { log, stop });
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, onSignal);
  process.on('SIGHUP', standardStreams.some((descriptor) => isatty(descriptor)) ? onSignal : reload);
}

async function endBy(signal: NodeJS.Signals, { log, stop }: Stopping): Promise<void> {
  setTimeout(() => {
    log.warn('stopped before everything was in order', { signal, stopMaxMs });
    process.exit(exitFailed);
  }, stopMaxMs);
  try {
    await stop();
  } catch (cause) {
    log.error('stop failed', { signal, cause });
    process.exit(exitFailed);
  }
  log.info('stopped', { signal });
  process.exit(0);
}
