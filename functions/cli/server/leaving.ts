/** Waits until targets that terminate are gone, and their names free. */
import { sleep } from '../../../shared/lib/clock.ts';
import type { NamedTarget } from '../../client/answers.ts';
import { type Io, progressOf } from '../io.ts';
import { CliError, exitCodes } from '../words/exit-codes.ts';
import type { Session } from './connection.ts';

const pollMs = 500;
/** After the grace period the target is removed by the next look of the schedule, on AWS once a minute. */
const removalMs = 120_000;

/**
 * @param timeoutMs for all of them together; undefined: their grace periods, and two minutes for the removal
 * @throws CliError for the first target that is still there in the end
 */
export async function untilGone(
  io: Io,
  session: Session,
  targets: readonly NamedTarget[],
  timeoutMs: number | undefined,
): Promise<void> {
  const { clock } = io;
  const beganMs = clock.monotonicMs();
  const progress = progressOf(io);
  for (const [index, named] of targets.entries()) {
    let uid: string | undefined;
    for (;;) {
      const target = await session.client.target(named);
      const { metadata } = target ?? {};
      uid ??= metadata?.uid;
      // Another one of the same name is not awaited.
      if (metadata?.deletionTimestamp === undefined || metadata.uid !== uid) break;
      const graceMs = (metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
      const leftMs = beganMs + (timeoutMs ?? graceMs + removalMs) - clock.monotonicMs();
      if (leftMs <= 0) {
        const next = 'it ends by itself; --now ends it at once, and --wait=false does not wait';
        throw new CliError(`target/${named.name} is still there: ${next}`, exitCodes.notInTime);
      }
      const endsInMs = Math.max(0, Date.parse(metadata.deletionTimestamp) - clock.nowMs());
      const left = targets.length - index;
      progress.show(`waiting for ${left} of ${targets.length} to end, ${Math.ceil(endsInMs / 1_000)}s`);
      await sleep(clock, pollMs);
    }
  }
  progress.end();
}
