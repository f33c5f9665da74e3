import type { Log, LogFields } from '../../shared/lib/log.ts';

export type LogLine = {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields?: LogFields;
};

/** A log that keeps its lines. */
export function recordingLog(): Log & { readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: LogLine['level']) => (message: string, fields?: LogFields) => {
    lines.push({ level, message, ...(fields && { fields }) });
  };
  return { lines, info: at('info'), warn: at('warn'), error: at('error') };
}
