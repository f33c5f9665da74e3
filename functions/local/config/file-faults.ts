/** Logs what is wrong in files of targets: each fault when it appears, not again while it lasts. */
import type { Log } from '../../../shared/lib/log.ts';
import type { FileError, Note } from '../../../shared/manifest/convert.ts';

export type FileFault = FileError & {
  /** Nothing of the file was applied. */
  readonly isWhole?: boolean;
};

export type FaultLog = {
  /** Takes all faults that there are now. */
  report(faults: readonly FileFault[]): void;
};

/** Faults of one file that are logged at once. */
const loggedMax = 20;

export function faultLog(log: Log): FaultLog {
  let before: ReadonlyMap<string, string> = new Map();
  return {
    report(faults) {
      const now = new Map<string, string>();
      for (const [file, own] of Map.groupBy(faults, (fault) => fault.file)) {
        now.set(file, JSON.stringify(own));
        if (now.get(file) === before.get(file)) continue;
        for (const { isWhole, ...fault } of own.slice(0, loggedMax))
          log.error(
            isWhole ? 'file of targets not applied: its targets stay as they were' : 'target file is faulty',
            fault,
          );
        if (own.length > loggedMax) log.error('more is wrong in this file', { file, faults: own.length - loggedMax });
      }
      for (const file of before.keys()) if (!now.has(file)) log.info('file of targets is all right again', { file });
      before = now;
    },
  };
}

export type NotMonitored = { readonly file: string; readonly leftOut: readonly Note[]; readonly count: number };

/** What the file has and nothing probes: of `count` the first. */
export function logNotMonitored(log: Log, { file, leftOut, count }: NotMonitored): void {
  for (const { kind: _, ...note } of leftOut)
    log.warn('not monitored: this part of a file of targets is left out', note);
  const more = count - leftOut.length;
  if (more > 0) log.warn('more of this file is not monitored', { file, parts: more });
}
