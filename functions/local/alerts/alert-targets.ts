/**
 * Reads targets for alerts, as the API shows them: each again after its events, and all of them in scans, because an
 * event may have been dropped, and because a result becomes too old without one.
 *
 * A scan takes a while, and targets change meanwhile. Its reading of a target that has been looked at since the scan
 * began may be older than that look, so it is dropped: it would begin an incident that has ended, or end one that has
 * just begun.
 */
import type { Alerting } from '../../../shared/alerts/alerting.ts';
import { type AlertInput, seenTarget } from '../../../shared/alerts/seen.ts';
import { freshnessReader, type ReadFreshness } from '../../../shared/api/targets/freshness.ts';
import { storedOf } from '../../../shared/api/targets/stored-target.ts';
import { conditionsView } from '../../../shared/api/targets/target-view.ts';
import { bucketCount } from '../../../shared/core/shards/slots.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { pacer } from '../../../shared/lib/slices.ts';
import { bucketName, bucketPk, prefixEnd, targetAddress } from '../../../shared/store/records/keys.ts';
import type { Item, Store } from '../../../shared/store/store.ts';
import { groupedByTarget } from '../../../shared/table/targets.ts';

/** CPU time of a scan in one turn of the event loop. */
const scanSliceMs = 5;
/** How long what is known of the freshness of a bucket is used, so that a mass of events does not read it each time. */
const freshnessMs = 1_000;

export type AlertTargets = {
  /** Reads this target again. @throws StoreUnavailable */
  look(namespace: string, name: string): Promise<void>;
  /** Reads all targets. One scan at a time. @throws StoreUnavailable */
  scan(): Promise<void>;
};

type Named = { readonly namespace: string; readonly name: string };

export function alertTargets(
  offer: Alerting['offer'],
  { store, clock }: { readonly store: Store; readonly clock: Clock },
): AlertTargets {
  const seen = seer(store, clock);
  /** Since the scan that is under way began, by `namespace/name`. */
  let looked: Set<string> | undefined;
  return {
    async look(namespace, name) {
      const { pk, prefix } = targetAddress(namespace, name);
      const input = await seen({ namespace, name }, await store.query({ pk, from: prefix, to: prefix + prefixEnd }));
      looked?.add(`${namespace}/${name}`);
      if (input) offer(input);
    },
    async scan() {
      const since = new Set<string>();
      const spared = new Set<string>();
      const pace = pacer(clock, scanSliceMs);
      looked = since;
      try {
        for (let bucket = 0; bucket < bucketCount; bucket += 1) {
          const items = await store.query({ pk: bucketPk(bucketName(bucket)) });
          for (const [prefix, group] of groupedByTarget(items)) {
            await pace();
            const named = namedBy(prefix);
            const input = await seen(named, group);
            const label = `${named.namespace}/${named.name}`;
            if (since.has(label) || isWell(input)) continue;
            spared.add(label);
            if (input) offer(input);
          }
        }
        offer({ kind: 'scanned', spared: new Set([...spared, ...since]) });
      } finally {
        looked = undefined;
      }
    },
  };
}

/** Undefined: nothing of the target can be read. */
type See = (named: Named, items: readonly Item[]) => Promise<AlertInput | undefined>;

function seer(store: Store, clock: Clock): See {
  let freshnessOf: ReadFreshness = freshnessReader({ store });
  let readMs = clock.monotonicMs();
  return async ({ namespace, name }, items) => {
    const read = storedOf(items, undefined);
    if (read.kind === 'absent') return { kind: 'gone', namespace, name };
    if (read.kind === 'poison') return undefined;
    if (clock.monotonicMs() - readMs >= freshnessMs) {
      freshnessOf = freshnessReader({ store });
      readMs = clock.monotonicMs();
    }
    const { bucket } = targetAddress(namespace, name);
    const freshness = await freshnessOf(bucket).catch((error: unknown) => {
      // A failed reading is not kept.
      freshnessOf = freshnessReader({ store });
      throw error;
    });
    const nowMs = clock.nowMs();
    return seenTarget(read.stored, nowMs, conditionsView(read.stored, { freshness, nowMs }));
  };
}

const isWell = (input: AlertInput | undefined): boolean =>
  input?.kind === 'gone' || (input?.kind === 'target' && input.ready === 'True' && !input.restart);

/** `<hash>#<namespace>/<name>#`: neither a namespace nor a name has one of the marks. */
function namedBy(prefix: string): Named {
  const [, label = ''] = prefix.split('#');
  const [namespace = '', name = ''] = label.split('/');
  return { namespace, name };
}
