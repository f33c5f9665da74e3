/** Converts random commands, and asks by command and by probe what the conversion claims to be the same. */
import type { Random } from '../../shared/lib/random.ts';
import { inLanes } from '../support/lanes.ts';
import { convertedProbe } from './converted-probe.ts';
import { type GeneratedCommand, generateCommand, type Ports, withPorts } from './generate.ts';
import { judge, type Observed } from './judge.ts';
import { type Programs, realCommands } from './real-command.ts';
import { type Answer, answers, closedPorts, Stand } from './stand.ts';

export type FuzzOptions = {
  readonly random: Random;
  readonly count: number;
  readonly programs: Programs;
  readonly say?: (line: string) => void;
};

export type Tally = {
  /** Commands of each tool, by what becomes of them. */
  readonly tools: Readonly<Record<string, Readonly<Record<Fate, number>>>>;
  /** Commands by each declared difference that was seen. */
  readonly declared: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
};

export const fates = ['same', 'approximated', 'stays', 'otherVerdict', 'otherRequest'] as const;
export type Fate = (typeof fates)[number];

const lanes = 4;
const failuresShownMax = 50;

const substituted = (command: GeneratedCommand, ports: Ports): GeneratedCommand => {
  const replaced = (text: string) => withPorts(text, ports);
  const { written } = command;
  return {
    ...command,
    written: typeof written === 'string' ? replaced(written) : written.map(replaced),
    command: command.command.map(replaced),
  };
};

export async function fuzzCommands({ random, count, programs, say = () => {} }: FuzzOptions): Promise<Tally> {
  const tools: Record<string, Record<Fate, number>> = {};
  const declared: Record<string, number> = {};
  const failures: string[] = [];
  const commands = Array.from({ length: count }, () => generateCommand(random)).filter(({ tool }) => tool in programs);
  const real = realCommands(programs);
  const stands = await Promise.all(Array.from({ length: lanes }, () => Stand.start()));
  const free = [...stands];
  let done = 0;
  const judged = async (command: GeneratedCommand) => {
    const stand = free.pop();
    if (!stand) throw new Error('more lanes than stands');
    const found = await fateOf(command, stand, real.run);
    free.push(stand);
    tools[command.tool] ??= { same: 0, approximated: 0, stays: 0, otherVerdict: 0, otherRequest: 0 };
    const counts = tools[command.tool];
    if (counts) counts[found.fate] += 1;
    for (const name of found.differences) declared[name] = (declared[name] ?? 0) + 1;
    if (found.what !== undefined) {
      failures.push(found.what);
      if (failures.length <= failuresShownMax) say(`FAIL ${found.what}`);
    }
    done += 1;
    if (done % 500 === 0) say(`${done} commands`);
  };
  try {
    await inLanes(commands, lanes, judged);
  } finally {
    await Promise.all(stands.map((stand) => stand.close()));
    real.close();
  }
  return { tools, declared, failures };
}

type Found = { readonly fate: Fate; readonly differences: readonly string[]; readonly what?: string };

type Run = (tool: string, command: readonly string[]) => Promise<number>;

async function fateOf(generated: GeneratedCommand, stand: Stand, run: Run): Promise<Found> {
  const differences = new Set<string>();
  for (const answer of answers) {
    const ports = answer.name === 'refused' ? closedPorts : stand.ports;
    const command = substituted(generated, ports);
    const converted = convertedProbe(command);
    if (converted.kind === 'stays') return { fate: 'stays', differences: [] };
    const ofCommand = await observed(stand, answer, async () => (await run(command.tool, command.command)) === 0);
    const ofProbe = await observed(stand, answer, async () => verdictOf(await converted.probe()));
    const judgement = judge({ answer, command: ofCommand, probe: ofProbe, notes: converted.notes });
    if (judgement.kind === 'wrong') {
      const what = `${command.tool} ${JSON.stringify(command.written)} → ${converted.handler}, at ${answer.name}: ${judgement.what}`;
      return { fate: judgement.of === 'request' ? 'otherRequest' : 'otherVerdict', differences: [], what };
    }
    if (judgement.kind === 'declared') for (const each of judgement.differences) differences.add(each);
  }
  return { fate: differences.size === 0 ? 'same' : 'approximated', differences: [...differences] };
}

const verdictOf = (outcome: string): boolean | undefined =>
  outcome === 'success' || outcome === 'warning' ? true : outcome === 'failure' ? false : undefined;

async function observed(stand: Stand, answer: Answer, act: () => Promise<boolean | undefined>): Promise<Observed> {
  stand.prepare(answer);
  const isSuccess = await act();
  return { recorded: await stand.recorded(), isSuccess };
}
