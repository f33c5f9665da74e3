/** The log port on pino: one JSON object per line, with the level as a word. */
import { type DestinationStream, pino } from 'pino';
import type { Log, LogFields } from '../../../shared/lib/log.ts';
import { visibleText } from '../../../shared/lib/visible-text.ts';

export function jsonLog(destination: DestinationStream = standardOutput()): Log {
  // JSON escapes control characters up to U+001F only, and a log may be read on a terminal.
  const logger = pino(options, { write: (line) => destination.write(visibleText(line)) });
  return {
    info: (message, fields) => logger.info(withErrors(fields), message),
    warn: (message, fields) => logger.warn(withErrors(fields), message),
    error: (message, fields) => logger.error(withErrors(fields), message),
  };
}

/** How many characters may wait for a blocked destination. Further lines are dropped. */
const waitingMax = 65_536;

/** If the log cannot be written, because of a full disk or a closed pipe, lines are lost but probing continues. */
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

/** An Error has no enumerable properties, so JSON would omit its content. */
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
