/**
 * `node test/conformance/termination-inputs.ts [--seed N] [--count N] > FOLDER/termination.jsonl`: what the termination
 * vectors play, named cases and then random ones from a seed. `npm run record -- --vectors FOLDER --write …` records
 * what kubelet says to it.
 *
 * A random op is long enough for every threshold and for what follows from it, and no grace period ends close to the
 * end of an op: phases of probes differ (difference 7), what has settled does not.
 */
import { parseArgs } from 'node:util';
import type { ProbeType } from '../../shared/core/spec/types.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { Action, ProbedContainer, TerminationPod, VectorProbe } from './termination-vector.ts';

type Input = TerminationPod & { readonly name: string; readonly ops: readonly Action[] };

type Probes = ProbedContainer['probes'];

const pod: Omit<TerminationPod, 'containers'> = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  initContainers: [],
};

/** Longer than three thresholds of 3 one after the other, and kubelet's looks in between. */
const settledSeconds = 15;

const app = (probes: Probes): Pick<TerminationPod, 'containers'> => ({ containers: [{ name: 'app', probes }] });
const side = (probes: Probes): ProbedContainer => ({ name: 'side', restartPolicy: 'Always', probes });
const withSide = (probes: Probes, main: Probes = {}) => ({ initContainers: [side(probes)], ...app(main) });

const run = (container = 'app', seconds = settledSeconds): Action => ({ op: 'run', container, seconds });
const end = (exitCode = 0, container = 'app', seconds = 5): Action => ({ op: 'end', container, exitCode, seconds });
const remove = (gracePeriodSeconds = 30, seconds = 5): Action => ({ op: 'delete', gracePeriodSeconds, seconds });
const wait = (seconds: number): Action => ({ op: 'wait', seconds });
const answer = (
  probeType: ProbeType,
  result: 'success' | 'failure',
  seconds = settledSeconds,
  container = 'app',
): Action => ({ op: 'answer', container, probeType, result, seconds });

const all: Probes = { startup: { failureThreshold: 3 }, readiness: { failureThreshold: 3 }, liveness: {} };
const never: VectorProbe = { failureThreshold: 1_000 };
const later: VectorProbe = { initialDelaySeconds: 3_000 };

const named: readonly (readonly [name: string, of: Partial<TerminationPod>, ...ops: Action[]])[] = [
  ['never-started-no-probes', app({}), remove()],
  ['never-started', app(all), remove()],
  ['never-started-sidecar', withSide(all, all), remove()],
  ['no-probes', app({}), run(), remove(), end()],
  ['live', app(all), run(), remove(), end()],
  ['live-exit-code-1', app(all), run(), remove(), end(1)],
  ['live-no-readiness', app({ liveness: {} }), run(), remove(), end(137)],
  [
    'liveness-failing-below-threshold',
    app({ liveness: never }),
    answer('liveness', 'failure', 2),
    run(),
    remove(),
    end(),
  ],
  ['liveness-failed', app({ liveness: {} }), answer('liveness', 'failure', 2), run(), remove(), end()],
  ['liveness-failed-readiness', app(all), run(), answer('liveness', 'failure'), remove(30, 8), end()],
  ['liveness-turns-after-deletion', app(all), run(), remove(), answer('liveness', 'failure'), end()],
  ['liveness-never-asked', app({ liveness: later }), run(), remove(), end()],
  ['startup-failing-below-threshold', app({ startup: never }), answer('startup', 'failure', 2), run(), remove(), end()],
  [
    'startup-failing-readiness',
    app({ ...all, startup: never }),
    answer('startup', 'failure', 2),
    run(),
    remove(),
    end(),
  ],
  ['startup-failed', app({ startup: {} }), answer('startup', 'failure', 2), run(), remove(), end()],
  [
    'startup-succeeds-after-deletion',
    app({ ...all, startup: never }),
    answer('startup', 'failure', 2),
    run(),
    remove(),
    answer('startup', 'success'),
    end(),
  ],
  ['startup-never-asked', app({ ...all, startup: later }), run(), remove(), end()],
  ['readiness-failing', app({ readiness: {} }), answer('readiness', 'failure', 2), run(), remove(), end()],
  ['readiness-turns-false', app(all), run(), remove(), answer('readiness', 'failure'), end()],
  [
    'readiness-turns-true',
    app({ readiness: { failureThreshold: 3, successThreshold: 3 } }),
    answer('readiness', 'failure', 2),
    run(),
    remove(60),
    answer('readiness', 'success'),
    answer('readiness', 'failure'),
    end(),
  ],
  ['readiness-never-asked', app({ readiness: later }), run(), remove(), end()],
  ['sidecar-live', withSide(all, all), run('side'), run(), remove(60, 8), end(), end(0, 'side')],
  ['sidecar-ends-first', withSide(all, all), run('side'), run(), remove(60, 8), end(0, 'side'), end()],
  [
    'sidecar-liveness-failing',
    withSide({ liveness: never }, { readiness: {} }),
    run('side'),
    run(),
    answer('liveness', 'failure', 5, 'side'),
    remove(60, 8),
    end(),
    end(1, 'side'),
  ],
  [
    'sidecar-startup-not-yet',
    withSide({ startup: never }),
    answer('startup', 'failure', 2, 'side'),
    run('side'),
    remove(30, 8),
    end(0, 'side'),
  ],
  [
    'sidecar-startup-not-yet-readiness',
    withSide({ startup: never, readiness: {} }),
    answer('startup', 'failure', 2, 'side'),
    run('side'),
    remove(30, 8),
    answer('startup', 'success', 8, 'side'),
    end(0, 'side'),
  ],
  [
    'sidecar-startup-never-asked',
    withSide({ startup: later, liveness: {} }),
    run('side'),
    remove(30, 8),
    end(0, 'side'),
  ],
  [
    'one-of-two-ends',
    {
      containers: [
        { name: 'app', probes: all },
        { name: 'other', probes: {} },
      ],
    },
    run('other', 2),
    run(),
    remove(60),
    end(),
    wait(8),
    end(0, 'other'),
  ],
  [
    'one-of-two-ends-policy-Never',
    {
      restartPolicy: 'Never',
      containers: [
        { name: 'app', probes: all },
        { name: 'other', probes: all },
      ],
    },
    run('other'),
    run(),
    remove(60),
    end(1),
    answer('readiness', 'failure', 8, 'other'),
    end(0, 'other'),
  ],
  ['policy-OnFailure-exit-code-1', { restartPolicy: 'OnFailure', ...app(all) }, run(), remove(), end(1)],
  ['grace-0', app(all), run(), remove(0), end(137)],
  ['grace-0-never-started', app(all), remove(0)],
  ['grace-1', app(all), run(), remove(1, 4), end(137)],
  ['grace-86400', app(all), run(), remove(86_400, 60), answer('readiness', 'failure'), end()],
  ['containers-never-reported-as-ended', app(all), run(), remove(5, 10), wait(20), end(137)],
  ['ends-with-the-grace-period', app(all), run(), remove(5, 8), end(137)],
  ['shorter-second-delete', app(all), run(), remove(60), remove(5, 9), end(137)],
  ['shorter-second-delete-not-ended', app(all), run(), remove(60), remove(5, 25), end(137)],
  ['longer-second-delete', app(all), run(), remove(8, 2), remove(60, 3), end()],
  ['second-delete-0', app(all), run(), remove(60), remove(0), end(137)],
  [
    'restarted-before-deletion',
    app(all),
    run(),
    answer('liveness', 'failure'),
    answer('liveness', 'success', 2),
    run(),
    remove(),
    end(),
  ],
];

const input = (name: string, of: Partial<TerminationPod>, ops: readonly Action[]): Input => ({
  name: `termination/${name}`,
  ...pod,
  containers: [],
  ...of,
  ops,
});

function randomInputs(seed: number, count: number): readonly Input[] {
  const { next } = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(next() * items.length)] as Item;
  const chance = (share: number) => next() < share;

  const probes = (): Probes => {
    const of = (probeType: ProbeType): VectorProbe => ({
      failureThreshold: pick([1, 3, 3, 1_000]),
      ...(probeType === 'readiness' && { successThreshold: pick([1, 2]) }),
      ...(chance(0.1) && later),
    });
    const types = (['startup', 'readiness', 'liveness'] as const).filter(() => chance(0.6));
    return Object.fromEntries(types.map((probeType) => [probeType, of(probeType)]));
  };
  const answerOf = ({ name, probes: own }: ProbedContainer): readonly Action[] => {
    const types = Object.keys(own) as ProbeType[];
    if (types.length === 0) return [wait(settledSeconds)];
    return [answer(pick(types), pick(['success', 'failure']), settledSeconds, name)];
  };

  const one = (index: number): Input => {
    const names = chance(0.4) ? ['app', 'other'] : ['app'];
    const containers = names.map((name) => ({ name, probes: probes() }));
    const initContainers = chance(0.4) ? [side(probes())] : [];
    const probed = [...initContainers, ...containers];
    const before = Array.from({ length: Math.floor(next() * 3) }, () => answerOf(pick(probed))).flat();
    const begun = chance(0.85) ? probed : probed.slice(0, Math.floor(next() * probed.length));
    const answers = chance(0.4) ? before : [];
    const graceSeconds = pick([3_600, 3_600, 3_600, 600, 0]);
    const later = Array.from({ length: 1 + Math.floor(next() * 3) }, () => answerOf(pick(probed))).flat();
    const again = chance(0.15) ? [remove(pick([7_200, 500]), settledSeconds)] : [];
    const ends = begun.map(({ name }) => end(pick([0, 0, 1, 137]), name, settledSeconds)).toSorted(() => next() - 0.5);
    const ops = [
      ...answers,
      ...begun.map(({ name }) => run(name)),
      ...(answers.length > 0 ? [] : before),
      remove(graceSeconds, settledSeconds),
      ...later,
      ...again,
      ...ends,
    ];
    const restartPolicy = pick(['Always', 'Always', 'OnFailure', 'Never'] as const);
    return input(`random-${String(index).padStart(3, '0')}`, { restartPolicy, containers, initContainers }, ops);
  };
  return Array.from({ length: count }, (_, index) => one(index));
}

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, count: { type: 'string', default: '30' } },
});
const inputs = [
  ...named.map(([name, of, ...ops]) => input(name, of, ops)),
  ...randomInputs(Number(values.seed), Number(values.count)),
];
for (const each of inputs) console.log(JSON.stringify(each));
