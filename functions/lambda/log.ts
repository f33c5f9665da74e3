/**
 * The log of a function: one JSON object a line, under the names that Powertools for AWS Lambda gives its fields, so that whoever knows
 * one knows the other. Its own few lines, since Powertools' logger costs 5 ms of each cold start and its tracer 50.
 */
import type { Log, LogFields } from '../../shared/lib/log.ts';
import { QueueDenied } from '../../shared/queue/queue.ts';
import { StoreDenied } from '../../shared/store/store.ts';
import { traceHeader } from './environment.ts';
import { sourceStack } from './stack.ts';

export type FunctionLog = Log & {
  /** From now on every line says which invocation it belongs to. */
  begin(context: { readonly awsRequestId: string }): void;
};

type Options = {
  /** The function's name in this product. */
  readonly service: string;
  /** Takes a whole line; standard output in production. */
  readonly write?: (line: string) => void;
  readonly nowMs: () => number;
};

type Level = 'INFO' | 'WARN' | 'ERROR';

/** Lambda cuts a line at 256 KiB; nothing of ours comes near. */
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

/** What fails for want of a right was logged where it was denied, once; nothing that fails because of it is a line of its own. */
const isDenied = ({ cause, error }: LogFields): boolean =>
  [cause, error].some((each) => each instanceof StoreDenied || each instanceof QueueDenied);

/** Written at once, whatever becomes of the process: Lambda's runtime only decorates what goes through the console. */
export const writeLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** The first part of the header, `Root=1-…`, is the trace. */
function trace(): LogFields {
  const root = /(?:^|;)Root=([^;]+)/.exec(traceHeader() ?? '')?.[1];
  return root === undefined ? {} : { xray_trace_id: root };
}

/** A value that JSON cannot carry must not cost the line. */
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

/** An Error has no enumerable fields of its own, so JSON would show none of it. */
function shown(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string' && value.length > valueCharactersMax) return `${value.slice(0, valueCharactersMax)}…`;
  if (!(value instanceof Error)) return value;
  const { name, message, stack, cause } = value;
  return { type: name, message, stack: sourceStack(stack ?? ''), ...(cause !== undefined && { cause }) };
}
