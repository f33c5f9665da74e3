/** The verdicts of a program: it prints each as it comes, and in the end how many there were. */
import { scoreLine } from './figures.ts';

export type Tally = {
  /** `wrong`: what does not hold, or whether all holds. */
  verdict(name: string, wrong: readonly string[] | boolean): void;
  /** Prints `N passed, N failed`; returns whether none has failed, and sets the exit code of the process by it. */
  end(): boolean;
};

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

const faultsMax = 5;

/** `failedOnly`: what passes is counted and not printed. */
export function tallyOf(print: (line: string) => void = say, { failedOnly = false } = {}): Tally {
  const score = { passed: 0, failed: 0 };
  return {
    verdict(name, wrong) {
      const faults = typeof wrong === 'boolean' ? [] : wrong;
      const holds = wrong === true || (wrong !== false && faults.length === 0);
      score[holds ? 'passed' : 'failed'] += 1;
      if (!holds || !failedOnly) print(`${holds ? 'ok    ' : 'FAILED'} ${name}`);
      for (const fault of faults.slice(0, faultsMax)) print(`       ${fault}`);
    },
    end() {
      print(scoreLine(score));
      process.exitCode = score.failed === 0 ? 0 : 1;
      return score.failed === 0;
    },
  };
}
