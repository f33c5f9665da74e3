/** prober.jsonl: one probe through the prober, with a transport that answers as the vector says. */

import { strict } from 'node:assert';
import type { Conclusion } from '../../shared/core/kubelet/probe-report.ts';
import type { ProbeRequest } from '../../shared/core/spec/handlers.ts';
import type { Handler } from '../../shared/core/spec/probe-request.ts';
import type {
  Attempt,
  ContainerKind,
  ContainerPort,
  EnvVar,
  PortRef,
  ProbeOutcome,
  ProbeType,
} from '../../shared/core/spec/types.ts';
import { systemClock } from '../../shared/lib/clock.ts';
import { type ProbeOrder, type ProbePorts, probe } from '../../shared/prober/probe.ts';
import { compare } from './compare.ts';
import type { VectorRunner } from './runner.ts';

type RecordedAttempt = { readonly result?: string; readonly output?: string; readonly error?: string };

type RecordedHandler = {
  readonly kind: 'exec' | 'httpGet' | 'tcpSocket' | 'grpc' | 'none';
  readonly command?: readonly string[];
  readonly scheme?: string;
  readonly host?: string;
  readonly path?: string;
  readonly port?: PortRef;
  readonly headers?: readonly (readonly [string, string])[];
  readonly service?: string;
};

type ProberVector = {
  readonly probeType: ProbeType;
  readonly probeSpecNil?: boolean;
  readonly containerKind: ContainerKind;
  readonly timeoutSeconds?: number;
  readonly podIP?: string;
  readonly ports?: readonly ContainerPort[];
  readonly env?: readonly EnvVar[];
  readonly handler: RecordedHandler;
  readonly attempts?: readonly RecordedAttempt[];
  readonly expect: {
    readonly result: string;
    readonly error: string | null;
    readonly attempts: number;
    readonly events?: readonly unknown[];
    readonly calls?: readonly unknown[];
  };
};

export const runProber: VectorRunner = async (vector) => {
  const recorded = vector as unknown as ProberVector;
  const requests: ProbeRequest[] = [];
  const report = await probe(answering(recorded.attempts ?? [], requests), orderOf(recorded));
  const actual = {
    ...concluded(report.conclusion),
    attempts: requests.length,
    events: report.event ? [report.event] : [],
    calls: requests.slice(0, 1).map(callOf),
  };
  return compare('report', actual, { events: [], calls: [], ...recorded.expect });
};

/**
 * Probers that give the recorded answers one after the other, the last one again and again, and keep what they were
 * asked.
 */
export function answering(answers: readonly RecordedAttempt[], requests: ProbeRequest[]): ProbePorts {
  const answer = async (request: ProbeRequest): Promise<Attempt> => {
    requests.push(request);
    const { result = '', output = '', error } = answers[Math.min(requests.length, answers.length) - 1] ?? {};
    // The recordings also hold results that no prober gives ('nonsense', none at all).
    const outcome = result as ProbeOutcome;
    return { outcome, output, ...(error !== undefined && { error }), timings: { totalMs: 0 } };
  };
  return { probers: { http: answer, tcp: answer, grpc: answer, exec: answer }, clock: systemClock };
}

/** The recordings were all made with this pod and container. */
const subject = { target: { namespace: 'ns', name: 'pod', uid: 'uid-1' }, container: { name: 'target' } };

function orderOf(vector: ProberVector): ProbeOrder {
  const { probeType, containerKind, podIP = '', ports = [], env = [] } = vector;
  return {
    probeType,
    containerKind,
    target: subject.target,
    host: podIP,
    container: { ...subject.container, ports: ports.map((port) => ({ ...port })), env },
    ...(vector.probeSpecNil !== true && { handler: handlerOf(vector.handler, vector.timeoutSeconds ?? 0) }),
  };
}

function handlerOf(handler: RecordedHandler, timeoutSeconds: number): Handler {
  const { host = '', path = '', port = 0, scheme = '', command = [], service, headers = [] } = handler;
  switch (handler.kind) {
    case 'exec':
      return { exec: { command }, timeoutSeconds };
    case 'httpGet': {
      const httpHeaders = headers.map(([name, value]) => ({ name, value }));
      return { httpGet: { host, path, port, scheme, httpHeaders }, timeoutSeconds };
    }
    case 'tcpSocket':
      return { tcpSocket: { host, port }, timeoutSeconds };
    case 'grpc':
      return { grpc: { port: Number(port), ...(service !== undefined && { service }) }, timeoutSeconds };
    case 'none':
      return { timeoutSeconds };
  }
}

function concluded(conclusion: Conclusion): { readonly result: string; readonly error: string | null } {
  return conclusion.kind === 'result'
    ? { result: conclusion.result, error: null }
    : { result: 'failure', error: conclusion.error };
}

function callOf(request: ProbeRequest): unknown {
  switch (request.kind) {
    case 'http': {
      const { url, hostOverride, timeoutMs } = request;
      const headers = [...request.headers].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      return { kind: 'httpGet', url, headers, hostOverride, timeoutMs };
    }
    case 'tcp':
      return { ...request, kind: 'tcpSocket' };
    case 'grpc':
      return { ...request };
    case 'exec': {
      strict.deepEqual(request.target, subject.target);
      return { kind: 'exec', command: request.command, timeoutMs: request.timeoutMs };
    }
  }
}
