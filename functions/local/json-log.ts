/** The log port on pino: one JSON object a line, with its level as a word. */
import { type DestinationStream, pino } from 'pino';
import type { Log, LogFields } from '../../shared/lib/log.ts';

export function jsonLog(destination: DestinationStream = standardOutput()): Log {
  const logger = pino(options, destination);
  return {
    info: (message, fields) => logger.info(withErrors(fields), message),
    warn: (message, fields) => logger.warn(withErrors(fields), message),
    error: (message, fields) => logger.error(withErrors(fields), message),
  };
}

/** Characters that wait for a destination that takes none; further lines are dropped. */
const waitingMax = 65_536;

/** A log that cannot be written, on a full disk or into a closed pipe, costs its lines and never a probe. */
function standardOutput(): DestinationStream {
  const destination = pino.destination({ dest: process.stdout.fd, sync: true, maxLength: waitingMax });
  destination.on('error', () => undefined);
  return destination;
}

const options = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: { level: (level: string) => ({ level }) },
};

/** An Error has no enumerable fields of its own, so JSON would show none of it. */
function withErrors(fields: LogFields = {}): LogFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? shownError(value) : value]),
  );
}

function shownError(error: Error): object {
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(error.cause instanceof Error && { cause: shownError(error.cause) }),
  };
}
