/**
 * The log of a function: one JSON object per line, with the field names of Powertools for AWS Lambda. Powertools'
 * logger would add 5 ms to each cold start, and its tracer 50 ms.
 */
import type { Log, LogFields } from '../../shared/lib/log.ts';
import { visibleText } from '../../shared/lib/visible-text.ts';
import { QueueDenied } from '../../shared/queue/queue.ts';
import { StoreDenied } from '../../shared/store/store.ts';
import { traceHeader } from './environment.ts';
import { sourceStack } from './stack.ts';

export type FunctionLog = Log & {
  /** Adds the invocation to every following line. */
  begin(context: { readonly awsRequestId: string }): void;
};

type Options = {
  /** The function's name within probelet. */
  readonly service: string;
  /** Receives a complete line. Defaults to standard output. */
  readonly write?: (line: string) => void;
  readonly nowMs: () => number;
};

type Level = 'INFO' | 'WARN' | 'ERROR';

/** Lambda truncates a line at 256 KiB; this keeps every line well below. */
const valueCharactersMax = 16_384;

export function functionLog({ service, write = writeLine, nowMs }: Options): FunctionLog {
  let invocation: LogFields = {};
  let invocations = 0;
  const at =
    (level: Level) =>
    (message: string, fields: LogFields = {}) => {
      if (isDenied(fields)) return;
      const timestamp = new Date(nowMs()).toISOString();
      write(jsonLine({ ...fields, level, message, timestamp, service, ...invocation, ...trace() }));
    };
  return {
    info: at('INFO'),
    warn: at('WARN'),
    error: at('ERROR'),
    begin({ awsRequestId }) {
      invocations += 1;
      invocation = { function_request_id: awsRequestId, cold_start: invocations === 1 };
    },
  };
}

/** A denial is logged once, where it occurs. Errors that result from it are not logged. */
const isDenied = ({ cause, error }: LogFields): boolean =>
  [cause, error].some((each) => each instanceof StoreDenied || each instanceof QueueDenied);

/**
 * Writes synchronously, so that the line survives a crash. Lambda's runtime only formats what goes through the console.
 * JSON escapes control characters up to U+001F only, and a log may be read on a terminal.
 */
export const writeLine = (line: string): void => {
  process.stdout.write(`${visibleText(line)}\n`);
};

/** The trace id is the first part of the header, `Root=1-…`. */
function trace(): LogFields {
  const root = /(?:^|;)Root=([^;]+)/.exec(traceHeader() ?? '')?.[1];
  return root === undefined ? {} : { xray_trace_id: root };
}

/** A value that JSON cannot represent must not lose the whole line. */
function jsonLine(fields: LogFields): string {
  try {
    return JSON.stringify(fields, shown);
  } catch {
    return JSON.stringify({ ...fields, ...unshown(fields) });
  }
}

const unshown = (fields: LogFields): LogFields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (isPlain(value) ? [] : [[name, String(value)]])),
  );

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean', 'undefined'].includes(typeof value);

/** An Error has no enumerable properties, so JSON would omit its content. */
function shown(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' && value.length > valueCharactersMax) return `${value.slice(0, valueCharactersMax)}…`;
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { type: name, message, stack: sourceStack(stack ?? ''), ...(cause !== undefined && { cause }) };
}
