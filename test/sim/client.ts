/** The clients of the API: a request goes to one of its processes, and is repeated if no answer comes. */
import type { ApiApp } from '../../shared/api/app.ts';
import { apiRequest } from '../support/api-client.ts';
import type { Chance } from './chance.ts';
import type { Life, Scheduler } from './clock.ts';

export type ApiAnswer = { readonly status: number; readonly body: unknown };

export type Asked = {
  readonly method: 'GET' | 'PUT' | 'PATCH' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
};

/** A received answer, for checkers. */
export type SeenAnswer = {
  readonly sentMs: number;
  readonly timeMs: number;
  readonly asked: Asked;
  readonly answer: ApiAnswer;
};

export type Client = {
  /** undefined: no answer within the time-out, so its effect is unknown. */
  ask(asked: Asked): Promise<ApiAnswer | undefined>;
  /** Asks until there is an answer below 500. */
  insist(asked: Asked, isMoot?: () => boolean): Promise<ApiAnswer | undefined>;
  sleep(ms: number): Promise<void>;
  onAnswer(listener: (seen: SeenAnswer) => void): void;
  onAsked(listener: (asked: Asked, sentMs: number) => void): void;
};

export type ApiProcesses = ReadonlyMap<Life, ApiApp>;

const timeoutMs = 30_000;

export function clientOf(scheduler: Scheduler, chance: Chance, apps: ApiProcesses): Client {
  const listeners: ((seen: SeenAnswer) => void)[] = [];
  const askedListeners: ((asked: Asked, sentMs: number) => void)[] = [];

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      scheduler.after(ms, { label: 'client', deliver: resolve });
    });

  const ask = (asked: Asked) =>
    new Promise<ApiAnswer | undefined>((resolve) => {
      const sentMs = scheduler.nowMs();
      for (const listener of askedListeners) listener(asked, sentMs);
      const alive = [...apps].filter(([life]) => life.alive);
      const cancel = scheduler.after(timeoutMs, { label: 'client waits no longer', deliver: () => resolve(undefined) });
      if (alive.length === 0) return;
      const [life, app] = chance.pick(alive);
      const serve = async () => {
        const { method, path, body } = asked;
        const response = await app.fetch(apiRequest(`http://probelet.test${path}`, method, body));
        const text = await response.text();
        if (!life.alive) return;
        const answer = { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
        scheduler.after(chance.between(1, 20), {
          label: `${asked.method} ${asked.path}: ${response.status}`,
          deliver: () => {
            cancel();
            for (const listener of listeners) listener({ sentMs, timeMs: scheduler.nowMs(), asked, answer });
            resolve(answer);
          },
        });
      };
      scheduler.after(chance.between(1, 20), {
        label: `${asked.method} ${asked.path}`,
        life,
        deliver: () => void serve(),
      });
    });

  return {
    ask,
    async insist(asked, isMoot = () => false) {
      while (!isMoot()) {
        const answer = await ask(asked);
        if (answer && answer.status < 500) return answer;
        await sleep(chance.between(500, 5_000));
      }
      return undefined;
    },
    sleep,
    onAnswer: (listener) => void listeners.push(listener),
    onAsked: (listener) => void askedListeners.push(listener),
  };
}
