/** Simulates seeds of `npm start`, as its argument says, and prints what is violated first. */
import { type SimulateOptions, simulateStart, type Violation } from '../sim/start/simulate.ts';

export type StartOrder = Required<Pick<SimulateOptions, 'hours' | 'kinds'>> & { readonly seeds: readonly number[] };

export type FoundAtStart = Violation & { readonly seed: number };

async function firstFound({ seeds, ...options }: StartOrder): Promise<FoundAtStart | undefined> {
  for (const seed of seeds) {
    const [first] = (await simulateStart({ seed, ...options, untilViolated: true })).violations;
    if (first) return { ...first, seed };
  }
  return undefined;
}

const found = await firstFound(JSON.parse(process.argv[2] ?? ''));
process.stdout.write(`${JSON.stringify(found ?? null)}\n`, () => process.exit(0));
