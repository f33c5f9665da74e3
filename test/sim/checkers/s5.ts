/** S5: the version of a status never decreases, neither in the table nor in the API's answers. */
import type { StatusRecord } from '../../../shared/core/spec/records.ts';
import { keyKind } from '../store.ts';
import type { Checker } from './checker.ts';

type View = { readonly metadata: { readonly uid: string }; readonly status: { readonly resourceVersion: string } };

export const s5: Checker = (_, violated) => {
  const answered = new Map<string, { readonly timeMs: number; readonly version: number }>();
  return {
    applied({ writer, changes }) {
      for (const { key, before, after } of changes) {
        if (keyKind(key) !== 'STATUS' || !before || !after) continue;
        const [old, now] = [before as unknown as StatusRecord, after as unknown as StatusRecord];
        if (old.uid === now.uid && now.version !== old.version + 1)
          violated(`${writer} took the status ${key.sk} from version ${old.version} to ${now.version}`);
      }
    },
    answered({ asked, answer, sentMs, timeMs }) {
      if (asked.method !== 'GET' || answer.status !== 200 || asked.path.includes('?')) return;
      const view = answer.body as View;
      const { uid } = view.metadata;
      const version = Number(view.status.resourceVersion);
      const last = answered.get(uid);
      // Only a request sent after the other answer had come may not show less.
      if (last && sentMs > last.timeMs && version < last.version)
        violated(`the API showed version ${version} of the status of ${uid} after ${last.version}`);
      if (!last || version > last.version) answered.set(uid, { timeMs, version });
    },
  };
};
