/** One seed of the world of `npm start`: what happens in it, and what was wrong. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Answer, askApi, targetPath } from '../../support/api-client.ts';
import type { BusFaults } from './bus.ts';
import { lateProbes, recoverMs, wrongIncidents, wrongProberIncidents } from './checks.ts';
import { type FaultKind, type Faults, faultKinds, faultsOf } from './faults.ts';
import { FileTargetCheck } from './file-checks.ts';
import { type TargetTruth, targetAlert } from './truth.ts';
import { buildStartWorld, type StartWorld, teams } from './world.ts';

export type Violation = {
  readonly invariant: 'incident' | 'kept' | 'probing' | 'files' | 'asked';
  readonly timeMs: number;
  readonly detail: string;
};

export type Outcome = {
  readonly seed: number;
  readonly hours: number;
  readonly violations: readonly Violation[];
  readonly faults: Faults['counts'];
  /** How often the bus was at its bounds. */
  readonly reached: BusFaults['reached'];
  /** Of everything that was seen. */
  readonly traceHash: string;
};

export type SimulateOptions = {
  readonly seed: number;
  readonly hours: number;
  /** Default: all. */
  readonly kinds?: readonly FaultKind[];
  /** Ends with the first violation. */
  readonly untilViolated?: boolean;
};

const hourMs = 3_600_000;
const stepMs = 5_000;
const turnMsMin = 30_000;
const turnMsMax = 30 * 60_000;
const editEveryMs = 6 * 60_000;
/** How often an edit makes the alert about the prober come or go: people look at alerts while something is wrong. */
const proberEdits = { well: 0.15, refusing: 0.7 } as const;
const listEveryMs = 15_000;
const violationsMax = 10;
/** In memory, where a machine has it: each commit waits for the disk. */
const fastFolder = '/dev/shm';

export async function simulateStart({
  seed,
  hours,
  kinds = faultKinds,
  untilViolated = false,
}: SimulateOptions): Promise<Outcome> {
  const root = mkdtempSync(join(existsSync(fastFolder) ? fastFolder : tmpdir(), 'probelet-sim-'));
  try {
    const run = new Run(buildStartWorld(seed, root, kinds.includes('files')), kinds);
    await run.pass(hours * hourMs, untilViolated ? 1 : violationsMax);
    return { seed, hours, violations: run.violations, ...run.outcome() };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

class Run {
  readonly violations: Violation[] = [];
  readonly faults: Faults;
  readonly #world: StartWorld;
  readonly #hash = createHash('sha256');
  readonly #turnAtMs = new Map<string, number>();
  /** Registrations under way, by target: what a life that has ended was asked is asked again. */
  readonly #asked = new Map<string, object>();
  readonly #wanted = new Map<string, string>();
  readonly #said = new Set<string>();
  readonly #fileTargets = new FileTargetCheck();
  #editAtMs = editEveryMs;
  #listAtMs = 0;

  constructor(world: StartWorld, kinds: readonly FaultKind[]) {
    this.#world = world;
    this.faults = faultsOf(world, () => this.#verifyKept(), kinds);
    for (const [index, { name }] of world.truth.targets.entries())
      this.#wanted.set(name, teams[index % teams.length] ?? '');
  }

  async pass(ms: number, most: number): Promise<void> {
    const { clock, disk } = this.#world;
    while (clock.monotonicMs() < ms && this.violations.length < most) {
      await clock.advance(stepMs);
      for (const target of this.#world.truth.targets) this.#turn(target);
      this.#edit();
      this.#world.files?.step();
      this.#register();
      this.#list();
      await this.faults.step();
      this.#check();
    }
    disk.cut(this.#world.life);
    await clock.advance(0);
  }

  outcome(): Pick<Outcome, 'faults' | 'reached' | 'traceHash'> {
    const traceHash = this.#hash.copy().digest('hex').slice(0, 16);
    return { faults: this.faults.counts, reached: this.#world.bus.reached, traceHash };
  }

  /** Targets go down and come back, in storms and in calm. */
  #turn(target: TargetTruth): void {
    const { clock, random } = this.#world;
    const nowMs = clock.monotonicMs();
    const atMs = this.#turnAtMs.get(target.name) ?? 0;
    if (nowMs < atMs) return;
    this.#turnAtMs.set(target.name, nowMs + turnMsMin + random.next() * (turnMsMax - turnMsMin));
    if (atMs === 0) return;
    target.isDown = !target.isDown;
    target.turnedMs = nowMs;
  }

  /** Sometimes a target changes its team, an alert its teams, or the alert about the prober comes or goes. */
  #edit(): void {
    const { clock, random, truth, runtime } = this.#world;
    const nowMs = clock.monotonicMs();
    if (nowMs < this.#editAtMs) return;
    this.#editAtMs = nowMs + random.next() * 2 * editEveryMs;
    const lot = random.next();
    const isRefusing = this.faults.times.refusingMs !== undefined;
    if (lot < (isRefusing ? proberEdits.refusing : proberEdits.well)) {
      truth.hasProberAlert = !truth.hasProberAlert;
      truth.proberAlertChangedMs = nowMs;
      runtime.reload();
      return;
    }
    if (random.next() < 0.3) {
      const without = Math.floor(random.next() * teams.length);
      truth.teams = teams.filter((_, index) => index !== without);
      truth.teamsChangedMs = nowMs;
      runtime.reload();
      return;
    }
    const target = truth.targets[Math.floor(random.next() * truth.targets.length)];
    const team = teams[Math.floor(random.next() * teams.length)];
    if (!target || team === undefined || this.#asked.has(target.name)) return;
    this.#wanted.set(target.name, team);
    target.team = undefined;
  }

  /** Asks until it is acknowledged. */
  #register(): void {
    const { truth, life } = this.#world;
    for (const target of truth.targets) {
      if (target.team !== undefined || this.#asked.get(target.name) === life) continue;
      this.#asked.set(target.name, life);
      this.#put(target, this.#wanted.get(target.name) ?? '').catch((error: unknown) => {
        if (life.alive) this.#violated('asked', `${error}`);
      });
    }
  }

  async #put(target: TargetTruth, team: string): Promise<void> {
    const { life, runtime, clock } = this.#world;
    const { name, port, periodSeconds } = target;
    const readinessProbe = { tcpSocket: { port }, periodSeconds, failureThreshold: 1 };
    const body = { metadata: { labels: { team } }, spec: { host: '10.0.0.1', readinessProbe } };
    const { status } = await askApi(runtime, 'PUT', targetPath(name), body);
    if (!life.alive) return;
    this.#asked.delete(name);
    this.#see(`put ${name} ${team} ${status}`);
    if (status >= 300) return;
    target.team = team;
    target.editedMs = clock.monotonicMs();
  }

  /** Looks at the targets of the files from time to time. An answer that does not come says nothing. */
  #list(): void {
    const { clock, runtime, life, files } = this.#world;
    if (!files || clock.monotonicMs() < this.#listAtMs) return;
    this.#listAtMs = clock.monotonicMs() + listEveryMs;
    askApi(runtime, 'GET', '/v1/namespaces/default/targets?limit=100').then(
      ({ status, body }: Answer) => {
        if (status !== 200 || life !== this.#world.life || !life.alive) return;
        const listed = body.items.map(({ metadata: { name, uid, deletionTimestamp } }) => {
          const isLeaving = deletionTimestamp !== undefined;
          return { name, uid, isLeaving, isInGrace: isLeaving && Date.parse(deletionTimestamp) > clock.nowMs() };
        });
        this.#see(`listed ${listed.map(({ name, isLeaving }) => [name, isLeaving])}`);
        const times = { nowMs: clock.monotonicMs(), calmMs: this.faults.times.commonMs + recoverMs };
        for (const detail of this.#fileTargets.wrong(files.expected(), listed, times)) this.#violated('files', detail);
      },
      () => undefined,
    );
  }

  /** Nothing that was acknowledged is lost at the end of a process. */
  async #verifyKept(): Promise<void> {
    const { clock, runtime, truth } = this.#world;
    for (const { name, team } of truth.targets) {
      if (team === undefined) continue;
      const answer: Answer = await clock.runUntil(askApi(runtime, 'GET', targetPath(name)));
      const found = answer.status === 200 ? answer.body.metadata.labels.team : `status ${answer.status}`;
      if (found !== team) this.#violated('kept', `${name} was acknowledged with ${team} and has ${found}`);
    }
  }

  #check(): void {
    const { times } = this.faults;
    this.#see(this.#seen());
    for (const detail of wrongIncidents(this.#world, times)) this.#violated('incident', detail);
    for (const detail of wrongProberIncidents(this.#world, times)) this.#violated('incident', detail);
    for (const detail of this.#world.disk.damage) this.#violated('kept', `alerts: ${detail}`);
    for (const detail of lateProbes(this.#world, times)) this.#violated('probing', detail);
  }

  #seen(): string {
    const { truth, receivers, clock } = this.#world;
    const open = [...receivers.values()].map((receiver) =>
      truth.targets.map(({ name }) => receiver.isOpen(targetAlert, name)),
    );
    return `${clock.nowMs()} ${truth.targets.map(({ isDown, probedMs }) => [isDown, probedMs])} ${open}`;
  }

  /** What stays wrong is said once. */
  #violated(invariant: Violation['invariant'], detail: string): void {
    const about = detail.replace(/\d+ s$/, '');
    if (this.#said.has(about)) return;
    this.#said.add(about);
    this.violations.push({ invariant, timeMs: Math.round(this.#world.clock.monotonicMs()), detail });
  }

  #see(line: string): void {
    this.#hash.update(`${line}\n`);
  }
}
