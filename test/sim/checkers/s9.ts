/**
 * S9: at any time at most one run can commit in a bucket: tokens only grow, and each is one run's. A run does not begin
 * a slot that it could know to be done, as that would take the shard from the run of the next slot. Slots are numbered
 * by the clocks of schedules, so this says nothing while those may differ by more than a slot.
 */
import type { Item } from '../../../shared/store/store.ts';
import { isRun } from '../ledger.ts';
import { isOfRun, keyKind } from '../store.ts';
import type { Change } from '../table.ts';
import type { Checker } from './checker.ts';
import { tickSlotMs } from './tick.ts';

/** From sending a message to the end of its run: for a rescue, two slots and its longest wait. */
const messageMs = 28 * 60_000;

type Done = { readonly generation: unknown; readonly slot: number; readonly timeMs: number };

export const s9: Checker = ({ faults, profile }, violated) => {
  const owners = new Map<number, string>();
  /** When the message of a run was received. */
  const begun = new Map<string, number>();
  /** Runs by a rescue, which has no slot: it was sent to a shard without a beat. */
  const rescues = new Set<string>();
  /** By RUN item. */
  const done = new Map<string, Done>();

  /** A clock that was ahead made future slots; once it is set back, earlier slots begin. */
  const werePutBack = (doneMs: number, toMs: number) =>
    faults.during(doneMs - messageMs, toMs).some(({ kind }) => kind === 'clock step');

  /** Two schedules may give the same instant different numbers: a slot of tick mode is a minute, others are longer. */
  const areNumbersApart = ({ tick }: Item) => tick === true && 2 * profile.skewMsMax >= tickSlotMs;

  const followSlot = (writer: string, timeMs: number, { key, before, after }: Change) => {
    if (!after) return;
    const isClaim = after.token !== before?.token;
    const last = done.get(key.pk);
    const { generation } = after;
    // A run whose message came before that may have looked before that.
    const knew = last !== undefined && (begun.get(writer) ?? 0) > last.timeMs;
    const isAgain =
      isClaim && knew && !rescues.has(writer) && last.generation === generation && Number(after.slot) <= last.slot;
    if (isAgain && !werePutBack(last.timeMs, timeMs) && !areNumbersApart(after))
      violated(`${writer} began slot ${after.slot} of ${key.pk} again, which was done at ${last.timeMs}`);
    const slot = Number(after.doneSlot ?? -1);
    if (!isClaim && slot > Number(before?.doneSlot ?? -1)) done.set(key.pk, { generation, slot, timeMs });
  };

  const followToken = (writer: string, { key, before, after }: Change) => {
    const [old, token] = [Number(before?.token ?? 0), Number(after?.token ?? -1)];
    if (token < old) violated(`${writer} took the token of ${key.pk} ${key.sk} from ${old} back to ${token}`);
    if (keyKind(key) === 'LAYOUT' || !isRun(writer)) return;
    const owner = owners.get(token) ?? writer;
    owners.set(token, owner);
    if (owner !== writer) violated(`${writer} claimed ${key.pk} ${key.sk} with token ${token} of ${owner}`);
  };

  return {
    runStarted({ prober, timeMs, isRescue }) {
      begun.set(prober, timeMs);
      if (isRescue) rescues.add(prober);
    },
    applied({ writer, timeMs, changes }) {
      for (const change of changes) {
        const kind = keyKind(change.key);
        if (isOfRun(change)) followSlot(writer, timeMs, change);
        if (isOfRun(change) || kind === 'EPOCH' || kind === 'LAYOUT') followToken(writer, change);
      }
    },
  };
};
