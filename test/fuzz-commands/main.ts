/**
 * `npm run fuzz:commands [-- --count N] [--scripts N] [--seed N]`: random commands of containers. Each that `convert`
 * turns into a handler runs with the real shell, curl, wget, nc and grpc_health_probe, and its probe with the real
 * prober, against servers that record the requests and give the same answers to both. Before that, so many scripts run
 * in real shells, for the grammar alone. Ends with `N passed, N failed`.
 */
import { parseArgs } from 'node:util';
import { scoreLine } from '../support/figures.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { fates, fuzzCommands } from './fuzz.ts';
import { requiredPrograms } from './programs.ts';
import { fuzzScripts } from './scripts.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '5000' },
    scripts: { type: 'string', default: '1000' },
    seed: { type: 'string' },
  },
});

const say = (line: string) => process.stdout.write(`${line}\n`);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
say(`seed ${seed}`);
const random = seededRandom(seed);
const scripts = await fuzzScripts({ random, count: Number(values.scripts) });
for (const failure of scripts.failures) say(`FAIL ${failure}`);
say(
  `scripts: of ${scripts.read}, ${scripts.ran} run one command; ${scripts.failures.length} do something else in a shell`,
);
const { tools, declared, failures } = await fuzzCommands({
  random,
  count: Number(values.count),
  programs: requiredPrograms(),
  say,
});

say(
  `\n${['command', 'same for every answer', 'approximated, as its note says', 'stays a command', 'decides otherwise without a word', 'asks something else'].join(' | ')}`,
);
for (const [tool, counts] of Object.entries(tools).sort())
  say([tool, ...fates.map((fate) => counts[fate])].join(' | '));
say(
  `\nseen differences, by commands: ${Object.entries(declared)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')}`,
);
const all = Object.values(tools).flatMap((counts) => fates.map((fate) => ({ fate, count: counts[fate] })));
const sum = (...of: readonly string[]) =>
  all.filter(({ fate }) => of.includes(fate)).reduce((total, { count }) => total + count, 0);
say(
  `${sum(...fates)} commands: ${sum('same')} the same, ${sum('approximated')} approximated, ${sum('stays')} stay commands`,
);
const failed = failures.length + scripts.failures.length;
say(scoreLine({ passed: sum('same', 'approximated', 'stays') + scripts.ran - scripts.failures.length, failed }));
process.exitCode = failed === 0 ? 0 : 1;
