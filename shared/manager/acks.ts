/** Whether status-sync has taken in what was committed: an ack is of a version, and every later one covers it. */
import type { StatusRecord } from '../core/records.ts';
import type { ProbeName } from '../core/spec.ts';

export const isAcked = ({ acked }: Pick<StatusRecord, 'acked'>, name: ProbeName, version: number): boolean =>
  (acked[name] ?? 0) >= version;
