/** The signals that end a process of `npm start`. */
import { isatty } from 'node:tty';
import type { Log } from '../../shared/lib/log.ts';

/** Exit code of a stop that failed or was cut short. */
const exitFailed = 1;
/**
 * A stop that takes longer is cut short: everything that counts is durable already. Probes in flight have 2 s of it, the last polls of a
 * worker 3 s, and the sender of the signal is promised an end within 5 s.
 */
const stopMaxMs = 4_000;
const standardStreams = [0, 1, 2];

export type Stopping = {
  readonly log: Log;
  /** Called once, by the first signal. */
  readonly stop: () => Promise<void>;
};

/**
 * The first SIGTERM or SIGINT stops the process. It exits with 0, or with 1 if the stop fails or takes longer than 4 s; one log line says
 * which. Later signals change nothing: npm forwards a SIGINT that the terminal has sent to the process as well.
 *
 * SIGHUP stops a process whose terminal closes. Without a terminal it is ignored, as `nohup` wants it: Node takes back that `nohup` has
 * ignored the signal (`PlatformInit` in its src/node.cc).
 */
export function stopOnSignal({ log, stop }: Stopping): void {
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) return;
    isStopping = true;
    void endBy(signal, { log, stop });
  };
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, onSignal);
  process.on('SIGHUP', standardStreams.some((descriptor) => isatty(descriptor)) ? onSignal : () => undefined);
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
