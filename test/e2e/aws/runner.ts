/** Runs steps one after the other, prints each with its time, and counts. */
import { type Figure, figureLines, type Score, scoreOf } from '../../support/figures.ts';

export type Runner = {
  /** What it throws is printed, counted and thrown on. */
  step<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** What follows does not depend on it. */
  tried(name: string, work: () => Promise<unknown>): Promise<void>;
  measured(name: string, work: () => Promise<readonly Figure[]>): Promise<void>;
  /** Removes what was made: also played after {@link interrupt}, and a failure is not thrown on. */
  cleanUp(name: string, work: () => Promise<unknown>): Promise<void>;
  /** Says what is not looked at on the emulator, and why. */
  skipped(name: string, why: string): void;
  /** No more steps are played, and what becomes of the one that is does not count. */
  interrupt(): void;
  score(): Score;
};

export function stepRunner(say: (line: string) => void): Runner {
  let [passed, failed, isInterrupted] = [0, 0, false];
  const startedMs = performance.now();
  const played = async <Result>(name: string, work: () => Promise<Result>, isOver: () => boolean): Promise<Result> => {
    if (isOver()) throw new Error(`not played: ${name}`);
    const beganMs = performance.now();
    const told = (verdict: string) =>
      say(`${verdict} ${secondsSince(startedMs).padStart(5)} s  ${name} (${secondsSince(beganMs)} s)`);
    try {
      const result = await work();
      if (isOver()) return result;
      passed += 1;
      told('ok    ');
      return result;
    } catch (error) {
      if (isOver()) throw error;
      failed += 1;
      told('FAILED');
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      throw error;
    }
  };
  const step: Runner['step'] = (name, work) => played(name, work, () => isInterrupted);
  const tried: Runner['tried'] = async (name, work) => {
    await step(name, work).catch(() => undefined);
  };
  return {
    step,
    tried,
    measured: (name, work) =>
      tried(name, async () => {
        const figures = await work();
        for (const line of figureLines(figures)) say(`         ${line}`);
        const score = scoreOf(figures);
        passed += score.passed;
        failed += score.failed;
      }),
    cleanUp: (name, work) =>
      played(name, work, () => false).then(
        () => undefined,
        () => undefined,
      ),
    skipped: (name, why) =>
      say(`skipped ${secondsSince(startedMs).padStart(4)} s  ${name}: not on the emulator, ${why}`),
    interrupt() {
      isInterrupted = true;
    },
    score: () => ({ passed, failed: failed + Number(isInterrupted) }),
  };
}

const secondsSince = (startedMs: number): string => ((performance.now() - startedMs) / 1_000).toFixed(1);
