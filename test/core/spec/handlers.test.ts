import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cpuMs, dialledHost } from '../../../shared/core/spec/handlers.ts';
import type { Probe } from '../../../shared/core/spec/spec.ts';

const port = 80;

describe('what a probe dials', () => {
  const rows = [
    ['the host of its handler', { httpGet: { port, host: 'a' } }, 'a'],
    ['the host of the target, where its handler has an empty one', { tcpSocket: { port, host: '' } }, 'target'],
    ['the host of the target, where its handler cannot have one', { grpc: { port } }, 'target'],
    ['nothing where it runs a command', { exec: { command: ['true'] } }, undefined],
    ['the host of the target, where this release does not know its handler', {}, 'target'],
  ] as const;
  for (const [what, probe, host] of rows) test(`is ${what}`, () => assert.equal(dialledHost(probe, 'target'), host));
});

test('a probe whose handler this release does not know costs as much as the cheapest one', () => {
  const numbers = { initialDelaySeconds: 0, periodSeconds: 1, timeoutSeconds: 1, successThreshold: 1 };
  const without: Probe = { ...numbers, failureThreshold: 1 };
  assert.equal(cpuMs(without), cpuMs({ ...without, tcpSocket: { port } }));
});
