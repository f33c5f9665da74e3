/** Requests to an API whose answer has to have a given status, and those that several programs send. */
import assert from 'node:assert/strict';
import type { Answer } from './world.ts';

export type Api = (method: string, path: string, body?: unknown) => Promise<Pick<Answer, 'status' | 'body'>>;

/** The body of the answer. @throws AssertionError if the status is another one. */
export async function answered(api: Api, wanted: number, request: Parameters<Api>): Promise<unknown> {
  const { status, body } = await api(...request);
  assert.equal(status, wanted, `${request.slice(0, 2).join(' ')}: ${JSON.stringify(body)}`);
  return body;
}

/** Registers a new target of this machine. `spec`: without its host, or with another. */
export async function register(api: Api, path: string, spec: object): Promise<void> {
  await answered(api, 201, ['PUT', path, { spec: { host: '127.0.0.1', ...spec } }]);
}

export type Running = { readonly name: string; readonly containerID: string; readonly restartCount?: number };

/** Reports, as a container runtime, that this container of the target runs. */
export async function reportRunning(api: Api, path: string, container: Running): Promise<void> {
  const running = { ...container, state: { running: { startedAt: new Date().toISOString() } } };
  await answered(api, 200, ['PUT', `${path}/status`, { status: { phase: 'Running', containerStatuses: [running] } }]);
}
