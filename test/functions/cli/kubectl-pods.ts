/**
 * The cases of kubectl's printer of Pods (k8s.io/kubernetes v1.36.3, printers_test.go in pkg/printers/internalversion),
 * with the cells that it expects. AGE is left out: there the Pods have no time of creation. So are the columns of
 * `-o wide` that are about nodes, and IP: a target is not scheduled, and has HOST.
 *
 * Some of this cannot occur in a target, but is computed as there: a phase or a reason that no Pod has, a container
 * without a state, statuses without a condition Ready, and statuses of containers that the spec does not have. No case
 * has a signal, which the API lacks.
 */

/** Of a container. `endedAgo`: seconds since the last run of the container ended. */
export type CaseContainer = {
  readonly name?: string;
  readonly ready?: boolean;
  readonly restarts?: number;
  readonly started?: boolean;
  readonly state?: object;
  readonly endedAgo?: number;
};

export type PodCase = {
  readonly test: string;
  /** What the case is about, in the words of its comment there. */
  readonly about: string;
  /** Containers of the spec, and its init containers: their names and whether they are restartable. */
  readonly containers: number;
  readonly initContainers?: readonly { readonly name: string; readonly restartable?: true }[];
  readonly phase: string;
  readonly reason?: string;
  readonly deleted?: true;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string }[];
  readonly init?: readonly CaseContainer[];
  readonly statuses?: readonly CaseContainer[];
  readonly readinessGates?: readonly string[];
  /** READY, STATUS, RESTARTS. */
  readonly cells: readonly [ready: string, status: string, restarts: string];
  /** READINESS GATES, of `-o wide`. */
  readonly gates?: string;
};

const running = { running: {} };
const waiting = (reason?: string) => ({ waiting: { ...(reason !== undefined && { reason }) } });
const terminated = (exitCode: number, reason?: string) => ({
  terminated: { exitCode, ...(reason !== undefined && { reason }) },
});
const minute = 60;
const day = 86_400;

const twoOfThree: readonly CaseContainer[] = [{ ready: true, restarts: 3, state: running }, { restarts: 3 }];
const inits = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `init${index}` }));
const sidecars = [
  { name: 'restartable-init-1', restartable: true },
  { name: 'restartable-init-2', restartable: true },
] as const;
const [first, second] = ['restartable-init-1', 'restartable-init-2'];
const initialized = (status: 'True' | 'False') => [{ type: 'Initialized', status }];

const printPod: readonly Omit<PodCase, 'test'>[] = [
  {
    about: 'name, num of containers, restarts, container ready status',
    ...{ containers: 2, phase: 'podPhase', statuses: twoOfThree },
    cells: ['1/2', 'podPhase', '6'],
  },
  {
    about: 'container error overwrites pod phase',
    ...{ containers: 2, phase: 'podPhase' },
    statuses: [
      { ready: true, restarts: 3, state: running },
      { state: waiting('ContainerWaitingReason'), restarts: 3 },
    ],
    cells: ['1/2', 'ContainerWaitingReason', '6'],
  },
  {
    about: 'the same with Terminated state: the first container overwrites the rest',
    ...{ containers: 2, phase: 'podPhase' },
    statuses: [
      { state: waiting('ContainerWaitingReason'), restarts: 3 },
      { state: terminated(0, 'ContainerTerminatedReason'), restarts: 3 },
    ],
    cells: ['0/2', 'ContainerWaitingReason', '6'],
  },
  {
    about: 'ready is not enough for reporting running',
    ...{ containers: 2, phase: 'podPhase' },
    statuses: [
      { ready: true, restarts: 3, state: running },
      { ready: true, restarts: 3 },
    ],
    cells: ['1/2', 'podPhase', '6'],
  },
  {
    about: 'ready is not enough for reporting running, with a reason',
    ...{ containers: 2, phase: 'podPhase', reason: 'podReason' },
    statuses: [
      { ready: true, restarts: 3, state: running },
      { ready: true, restarts: 3 },
    ],
    cells: ['1/2', 'podReason', '6'],
  },
  {
    about: 'one container running and the other completed, without ready condition',
    ...{ containers: 2, phase: 'Running' },
    statuses: [
      { ready: true, restarts: 3, state: terminated(0, 'Completed') },
      { ready: true, restarts: 3, state: running },
    ],
    cells: ['1/2', 'NotReady', '6'],
  },
  {
    about: 'one container running and the other completed, with ready condition',
    ...{ containers: 2, phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    statuses: [
      { ready: true, restarts: 3, state: terminated(0, 'Completed') },
      { ready: true, restarts: 3, state: running },
    ],
    cells: ['1/2', 'Running', '6'],
  },
  {
    about: '1 init container restarting and 1 container not running',
    ...{ containers: 1, initContainers: inits(1), phase: 'podPhase' },
    init: [{ restarts: 3, state: running, endedAgo: 10 }],
    statuses: [{ state: waiting() }],
    cells: ['0/1', 'Init:0/1', '3 (10s ago)'],
  },
  {
    about: '2 init containers, one restarting and the other not running',
    ...{ containers: 1, initContainers: inits(2), phase: 'podPhase' },
    init: [{ restarts: 3, state: running, endedAgo: 10 }, { state: waiting() }],
    statuses: [{ state: waiting() }],
    cells: ['0/1', 'Init:0/2', '3 (10s ago)'],
  },
  {
    about: '2 init containers, one completed without restarts and the other restarting',
    ...{ containers: 1, initContainers: inits(2), phase: 'podPhase' },
    init: [{ state: terminated(0) }, { restarts: 3, state: running, endedAgo: 10 }],
    statuses: [{ state: waiting() }],
    cells: ['0/1', 'Init:1/2', '3 (10s ago)'],
  },
  {
    about: '2 init containers, one completed with restarts and the other restarting',
    ...{ containers: 1, initContainers: inits(2), phase: 'podPhase' },
    init: [
      { restarts: 2, state: terminated(0), endedAgo: 2 * minute },
      { restarts: 3, state: running, endedAgo: 10 },
    ],
    statuses: [{ state: waiting() }],
    cells: ['0/1', 'Init:1/2', '5 (10s ago)'],
  },
  {
    about: '1 init container completed with restarts and one container restarting',
    ...{ containers: 1, initContainers: inits(1), phase: 'Running' },
    init: [{ restarts: 2, state: terminated(0), endedAgo: 2 * minute }],
    statuses: [{ restarts: 4, state: running, endedAgo: 20 }],
    cells: ['0/1', 'Running', '4 (20s ago)'],
  },
  {
    about: '1 container that restarted 5d ago',
    ...{ containers: 1, phase: 'Running' },
    statuses: [{ ready: true, restarts: 3, state: running, endedAgo: 5 * day }],
    cells: ['1/1', 'Running', '3 (5d ago)'],
  },
  {
    about: '2 containers, one has never restarted and the other has restarted 10d ago',
    ...{ containers: 2, phase: 'Running' },
    statuses: [
      { ready: true, state: running },
      { ready: true, restarts: 3, state: running, endedAgo: 10 * day },
    ],
    cells: ['2/2', 'Running', '3 (10d ago)'],
  },
  {
    about: '2 containers, one restarted 5d ago and the other restarted 20d ago',
    ...{ containers: 2, phase: 'Running' },
    statuses: [
      { ready: true, restarts: 6, state: running, endedAgo: 5 * day },
      { ready: true, restarts: 3, state: running, endedAgo: 20 * day },
    ],
    cells: ['2/2', 'Running', '9 (5d ago)'],
  },
  {
    about: 'PodScheduled condition with reason SchedulingGated',
    ...{ containers: 2, phase: 'podPhase' },
    conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }],
    cells: ['0/2', 'SchedulingGated', '0'],
  },
  {
    about: 'pod condition succeed',
    ...{ containers: 1, phase: 'Succeeded', statuses: [{ state: terminated(0, 'Completed') }] },
    cells: ['0/1', 'Completed', '0'],
  },
  {
    about: 'pod condition failed',
    ...{ containers: 1, phase: 'Failed', statuses: [{ state: terminated(1, 'Error') }] },
    cells: ['0/1', 'Error', '0'],
  },
  {
    about: 'pod condition succeed with deletion',
    ...{ containers: 1, phase: 'Succeeded', deleted: true, statuses: [{ state: terminated(0, 'Completed') }] },
    cells: ['0/1', 'Completed', '0'],
  },
  {
    about: 'pod condition running with deletion',
    ...{ containers: 1, phase: 'Running', deleted: true, statuses: [{ state: running }] },
    cells: ['0/1', 'Terminating', '0'],
  },
  {
    about: 'pod condition pending with deletion',
    ...{ containers: 1, phase: 'Pending', deleted: true },
    cells: ['0/1', 'Terminating', '0'],
  },
  {
    about: 'Error/Running',
    ...{ containers: 2, phase: 'Failed' },
    statuses: [{ state: terminated(1, 'podCrash') }, { ready: true, state: running }],
    cells: ['1/2', 'podCrash', '0'],
  },
  {
    about: 'Running/Error',
    ...{ containers: 2, phase: 'Failed' },
    statuses: [{ ready: true, state: running }, { state: terminated(1, 'podCrash') }],
    cells: ['1/2', 'podCrash', '0'],
  },
  {
    about: 'ready, Running/Error/Completed',
    ...{ containers: 3, phase: 'Failed' },
    statuses: [
      { ready: true, state: running },
      { ready: true, state: terminated(1, 'podCrash') },
      { ready: true, state: terminated(0) },
    ],
    cells: ['1/3', 'podCrash', '0'],
  },
  {
    about: 'not ready, Running/Error/Completed',
    ...{ containers: 3, phase: 'Failed' },
    statuses: [{ state: running }, { state: terminated(1, 'podCrash') }, { state: terminated(0) }],
    cells: ['0/3', 'podCrash', '0'],
  },
];

const restartableInit: readonly Omit<PodCase, 'test'>[] = [
  {
    about: '2 restartable init containers, the first one running but not started',
    ...{ containers: 1, initContainers: sidecars, phase: 'Pending', conditions: initialized('False') },
    init: [
      { name: first, restarts: 3, state: running, started: false, endedAgo: 10 },
      { name: second, state: waiting(), started: false },
    ],
    statuses: [{ state: waiting() }],
    cells: ['0/3', 'Init:0/2', '3 (10s ago)'],
  },
  {
    about: '2 restartable init containers, the first one started and the second one running but not started',
    ...{ containers: 1, initContainers: sidecars, phase: 'Pending', conditions: initialized('False') },
    init: [
      { name: first, restarts: 3, state: running, started: true, endedAgo: 10 },
      { name: second, state: running, started: false },
    ],
    statuses: [{ state: waiting() }],
    cells: ['0/3', 'Init:1/2', '3 (10s ago)'],
  },
  {
    about: '2 restartable init containers started and 1 container running',
    ...{ containers: 1, initContainers: sidecars, phase: 'Running', conditions: initialized('True') },
    init: [
      { name: first, restarts: 3, state: running, started: true, endedAgo: 10 },
      { name: second, state: running, started: true },
    ],
    statuses: [{ ready: true, restarts: 4, state: running, endedAgo: 20 }],
    cells: ['1/3', 'Running', '7 (10s ago)'],
  },
  {
    about: '2 restartable init containers completed with non-zero and 1 container completed',
    ...{ containers: 1, initContainers: sidecars, phase: 'Succeeded', conditions: initialized('True') },
    init: [
      { name: first, restarts: 3, state: terminated(137, 'Error'), started: false, endedAgo: 10 },
      { name: second, state: terminated(137, 'Error'), started: false },
    ],
    statuses: [{ restarts: 4, state: terminated(0, 'Completed'), endedAgo: 20 }],
    cells: ['0/3', 'Completed', '7 (10s ago)'],
  },
  {
    about: 'container statuses for non-existent initContainers and containers',
    ...{
      containers: 1,
      initContainers: [{ name: 'init1' }, { name: 'sidecar1', restartable: true }],
      phase: 'Running',
    },
    init: [{ name: 'initinvalid' }, { name: 'init1' }, { name: 'sidecar1' }],
    statuses: [{ name: 'containerinvalid' }, { name: 'container0' }],
    cells: ['0/2', 'Init:0/2', '0'],
  },
];

const gates = {
  readinessGates: ['condition1', 'condition2', 'condition3'],
  conditions: [
    { type: 'condition1', status: 'False' },
    { type: 'condition2', status: 'True' },
  ],
};

const wide: readonly Omit<PodCase, 'test'>[] = [
  ...['the NodeName and PodIP are not none', 'the NodeName and two PodIPs are not none'].map((about) => ({
    about,
    ...{ containers: 2, phase: 'podPhase', ...gates, statuses: twoOfThree },
    ...{ cells: ['1/2', 'podPhase', '6'] as const, gates: '1/3' },
  })),
  {
    about: 'the NodeName and PodIP are none',
    ...{ containers: 2, phase: 'podPhase' },
    statuses: [
      { ready: true, restarts: 3, state: running },
      { state: waiting('ContainerWaitingReason'), restarts: 3 },
    ],
    ...{ cells: ['1/2', 'ContainerWaitingReason', '6'], gates: '<none>' },
  },
];

const ofPhase = (phase: string): Omit<PodCase, 'test'> => ({
  about: `pod phase ${phase}`,
  ...{ containers: 2, phase, statuses: twoOfThree, cells: ['1/2', phase, '6'] },
});

const nonTerminated: readonly Omit<PodCase, 'test'>[] = [
  ...['Running', 'Pending', 'Unknown', 'Succeeded'].map(ofPhase),
  {
    about: 'pod phase Failed',
    ...{ containers: 2, phase: 'Failed' },
    statuses: [
      { ready: true, restarts: 3, state: running },
      { ready: true, restarts: 3 },
    ],
    cells: ['1/2', 'Failed', '6'],
  },
];

const list: readonly Omit<PodCase, 'test'>[] = [
  {
    about: "podList's first pod",
    ...{ containers: 2, phase: 'podPhase' },
    statuses: [
      { ready: true, restarts: 3, state: running },
      { ready: true, restarts: 3, state: running },
    ],
    cells: ['2/2', 'podPhase', '6'],
  },
  {
    about: "podList's second pod",
    ...{ containers: 1, phase: 'podPhase', statuses: [{ ready: true, restarts: 1, state: running }] },
    cells: ['1/1', 'podPhase', '1'],
  },
];

/** By the name of the test there. */
const tests: { readonly [test: string]: readonly Omit<PodCase, 'test'>[] } = {
  TestPrintPod: printPod,
  TestPrintPodWithRestartableInitContainer: restartableInit,
  TestPrintPodwide: wide,
  TestPrintPodConditions: ['Running', 'Succeeded', 'Failed'].map(ofPhase),
  TestPrintPodList: list,
  TestPrintNonTerminatedPod: nonTerminated,
};

export const podCases: readonly PodCase[] = Object.entries(tests).flatMap(([test, cases]) =>
  cases.map((each) => ({ test, ...each })),
);
