/**
 * S2: a PROBE item's version grows by one with each new verdict, with each new reason why the probe cannot be made, and
 * when its worker ends and had a result; an event shows what was written with its version, and never a change from
 * nothing to nothing. A new container has no result, and no new version, until its first verdict.
 */
import type { ProbeRecord } from '../../../shared/core/spec/records.ts';
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';

/** The part of a version that its event and its item share. */
const shown = ({ result, reason, containerID }: Published): string =>
  `${result ?? 'none'} ${reason ?? ''} ${containerID}`;

type Published = {
  readonly result?: string | undefined;
  readonly reason?: string | undefined;
  readonly containerID: string;
};

/** How a PROBE item is published. */
const publishedOf = ({ result, unknown, containerID }: ProbeRecord): Published =>
  unknown ? { result: 'unknown', reason: unknown.reason, containerID } : { result, containerID };

const isNews = (old: ProbeRecord, now: ProbeRecord): boolean => {
  const isKnown = publishedOf(now).result !== undefined;
  // A new container that cannot be probed either changes nothing.
  const isSameDoubt = now.unknown !== undefined && now.unknown.reason === old.unknown?.reason;
  const ends = now.ended && !old.ended && publishedOf(old).result !== undefined;
  return (isKnown && !isSameDoubt && shown(publishedOf(old)) !== shown(publishedOf(now))) || ends;
};

export const s2: Checker = (_, violated) => {
  /** By uid, container, probe type and version: the event's id. */
  const written = new Map<string, string>();
  return {
    applied({ changes, writer }) {
      for (const { key, before, after } of changes) {
        if (keyKind(key) !== 'PROBE' || !before || !after) continue;
        const [old, now] = [before as unknown as ProbeRecord, after as unknown as ProbeRecord];
        if (old.uid !== now.uid) continue;
        const changed = isNews(old, now);
        const step = now.version - old.version;
        if (step !== (changed ? 1 : 0))
          violated(
            `${writer} took ${key.sk} from version ${old.version} (${shown(publishedOf(old))}) to ${now.version} (${shown(publishedOf(now))})`,
          );
        if (changed)
          written.set(`${now.uid}/${now.container}/${now.probeType}/${now.version}`, shown(publishedOf(now)));
      }
    },
    published({ publisher, event }) {
      if (event.detailType !== 'Probe Result Changed') return;
      if (event.detail.result === undefined && event.detail.previousResult === undefined)
        violated(`${publisher} told of ${event.detail.id}, which changed nothing`);
      const committed = written.get(event.detail.id);
      if (committed === undefined) violated(`${publisher} told of ${event.detail.id}, which was never written`);
      else if (committed !== shown(event.detail))
        violated(`${publisher} told ${shown(event.detail)} of ${event.detail.id}, written was ${committed}`);
    },
  };
};
