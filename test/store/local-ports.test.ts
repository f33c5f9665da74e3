/** The servers that the tests start are the ones that answer: no listener of another test file gets their port. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { freePort } from '../support/free-port.ts';

const linuxRange = '/proc/sys/net/ipv4/ip_local_port_range';
/** RFC 6335, section 6: where other systems begin. */
const dynamicPortsBegin = 49_152;
const portsTried = 200;

function lowestGivenPort(): number {
  try {
    return Number(readFileSync(linuxRange, 'utf8').split(/\s+/)[0]);
  } catch {
    return dynamicPortsBegin;
  }
}

test('a server with a given port gets none that the kernel gives to listeners without one', async () => {
  const lowest = lowestGivenPort();
  const ports = await Promise.all(Array.from({ length: portsTried }, freePort));
  const inRange = ports.filter((port) => port >= lowest);
  assert.deepEqual(inRange, []);
});
