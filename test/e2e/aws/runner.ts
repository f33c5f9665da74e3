/** Runs steps one after the other, prints each with its time, and counts. */
import { type Figure, figureLines, type Score, scoreOf } from '../../support/figures.ts';

export type Runner = {
  /** What it throws is printed, counted and thrown on. */
  step<Result>(name: string, work: () => Promise<Result>): Promise<Result>;
  /** What follows does not depend on it. */
  tried(name: string, work: () => Promise<unknown>): Promise<void>;
  measured(name: string, work: () => Promise<readonly Figure[]>): Promise<void>;
  score(): Score;
};

export function stepRunner(say: (line: string) => void): Runner {
  let [passed, failed] = [0, 0];
  const startedMs = performance.now();
  const step: Runner['step'] = async (name, work) => {
    const beganMs = performance.now();
    const told = (verdict: string) =>
      say(`${verdict} ${secondsSince(startedMs).padStart(5)} s  ${name} (${secondsSince(beganMs)} s)`);
    try {
      const result = await work();
      passed += 1;
      told('ok    ');
      return result;
    } catch (error) {
      failed += 1;
      told('FAILED');
      say(error instanceof Error ? (error.stack ?? error.message) : String(error));
      throw error;
    }
  };
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
    score: () => ({ passed, failed }),
  };
}

const secondsSince = (startedMs: number): string => ((performance.now() - startedMs) / 1_000).toFixed(1);
