/**
 * Simulated processes. All work between two answers is one step, so a process dies or stands still where it calls a
 * port: before the request leaves, or before the answer is read. Each such place has a name, and its crashes are
 * counted.
 */
import type { Clock } from '../../shared/lib/clock.ts';
import type { Log } from '../../shared/lib/log.ts';
import type { Random } from '../../shared/lib/random.ts';
import type { Chance } from './chance.ts';
import { clockOf, type Life, type Scheduler } from './clock.ts';
import { type CpuModel, costlyCaller } from './cpu.ts';
import { eventLoop } from './event-loop.ts';

export type Moment = 'before' | 'after';

/** Asked at every crash point; may crash or pause the life. */
export type AtCrashPoint = (life: Life, site: string, moment: Moment) => void;

/** Returns what takes it back. */
export type Reply<Answer> = (
  delayMs: number,
  /** Evaluated then, even if the caller is dead; what it throws is thrown to the caller. */
  evaluate: () => Answer,
) => () => void;

export type Caller = {
  readonly life: Life;
  /** `send` is run when the request leaves: at once, or after a pause. */
  call<Answer>(site: string, send: (reply: Reply<Answer>) => unknown): Promise<Answer>;
};

export type Env = {
  readonly life: Life;
  readonly clock: Clock;
  readonly random: Random;
  readonly chance: Chance;
  readonly log: Log;
  readonly caller: Caller;
};

/** A new promise each time: a shared one would keep everything that ever waited for it. */
const never = () => new Promise<never>(() => undefined);

export function callerOf(scheduler: Scheduler, life: Life, atCrashPoint: AtCrashPoint): Caller {
  const call = <Answer>(site: string, send: (reply: Reply<Answer>) => unknown): Promise<Answer> => {
    if (!life.alive) return never();
    atCrashPoint(life, site, 'before');
    if (!life.alive) return never();
    return new Promise((resolve, reject) => {
      const reply: Reply<Answer> = (delayMs, evaluate) => {
        let settle: () => void = () => undefined;
        const effect = () => {
          try {
            const answer = evaluate();
            settle = () => resolve(answer);
          } catch (error) {
            settle = () => reject(error);
          }
        };
        const deliver = () => {
          atCrashPoint(life, site, 'after');
          if (!life.alive) return;
          if (life.pausedUntilMs <= scheduler.nowMs()) return settle();
          scheduler.after(life.pausedUntilMs - scheduler.nowMs(), {
            label: site,
            life,
            kind: 'answer',
            deliver: settle,
          });
        };
        return scheduler.after(delayMs, { label: site, life, kind: 'answer', effect, deliver });
      };
      if (life.pausedUntilMs <= scheduler.nowMs()) return void send(reply);
      // Stopped between the decision and the write: the request leaves when the process resumes.
      const leave = () => send(reply);
      scheduler.after(life.pausedUntilMs - scheduler.nowMs(), { label: `${site} leaves`, life, deliver: leave });
    });
  };
  return { life, call };
}

export type Process = {
  readonly name: string;
  readonly role: string;
  life(): Life | undefined;
  /** Ends its life now; it starts again after `downMs`. */
  crash(downMs: number): void;
  pause(ms: number): void;
  /** Sets the wall clock of its machine; later lives have it too. */
  stepClock(byMs: number): void;
};

/** `ends`: the process has ended by itself, and starts again. */
export type Main = (env: Env) => Promise<'ends' | 'serves'>;

export type Population = {
  readonly processes: readonly Process[];
  /** `role` and a number make its name. */
  start(role: string, number: number, main: Main): Process;
};

type PopulationPorts = {
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  readonly atCrashPoint: AtCrashPoint;
  /** The skew of a new life, ms. */
  readonly skewMs: (chance: Chance) => number;
  readonly log: (life: Life) => Log;
  readonly onProblem: (life: Life, cause: unknown) => void;
  /** Absent: computing takes no time. */
  readonly cpu?: CpuModel | undefined;
};

export function population(ports: PopulationPorts): Population {
  const { scheduler, chance } = ports;
  const processes: Process[] = [];

  function start(role: string, number: number, main: Main): Process {
    const name = `${role}-${number}`;
    let lives = 0;
    let life: Life | undefined;
    let stepMs = 0;
    const begin = () => {
      lives += 1;
      const own = chance.fork(`${name}/${lives}`);
      const born: Life = {
        name: `${name}.${lives}`,
        role,
        alive: true,
        pausedUntilMs: 0,
        timersFirst: true,
        skewMs: ports.skewMs(own),
        stepMs: () => stepMs,
        ...(ports.cpu && {
          loop: eventLoop(scheduler.nowMs, ports.cpu.vcpusOf?.[role] ?? ports.cpu.vcpus),
          clockStopsFrozen: own.happens(0.5),
        }),
      };
      life = born;
      const caller = callerOf(scheduler, born, ports.atCrashPoint);
      const env: Env = {
        life: born,
        clock: clockOf(scheduler, born),
        random: own.random(),
        chance: own,
        log: ports.log(born),
        caller: ports.cpu ? costlyCaller(caller) : caller,
      };
      void main(env).then(
        (ending) => {
          if (ending === 'ends' && born.alive) process.crash(chance.between(100, 3_000));
        },
        (cause: unknown) => ports.onProblem(born, cause),
      );
    };
    const process: Process = {
      name,
      role,
      life: () => life,
      crash(downMs) {
        if (!life) return;
        const dying = life;
        life.alive = false;
        life = undefined;
        dying.onDeath?.();
        scheduler.after(downMs, { label: `${name} starts`, deliver: begin });
      },
      stepClock(byMs) {
        stepMs += byMs;
      },
      pause(ms) {
        if (!life) return;
        life.timersFirst = chance.happens(0.7);
        life.pausedUntilMs = Math.max(life.pausedUntilMs, scheduler.nowMs() + ms);
      },
    };
    processes.push(process);
    scheduler.after(chance.between(0, 500), { label: `${name} starts`, deliver: begin });
    return process;
  }

  return { processes, start };
}
