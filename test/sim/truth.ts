/** What really goes on at the endpoints: well most of the time, then for a moment or for long not. */
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { Endpoint, Health, Network } from './network.ts';

const wellMs = 25 * 60_000;
const bad: readonly Health[] = ['failing', 'failing', 'failing', 'hanging', 'hanging', 'slow', 'errs'];
/** Shorter than a threshold, about as long, longer. */
const illMs: readonly number[] = [3_000, 15_000, 60_000, 60_000, 300_000, 600_000];

/** Lets an endpoint live; returns what ends that. */
export function endpointLife(
  ports: { readonly scheduler: Scheduler; readonly chance: Chance; readonly network: Network },
  endpoint: Endpoint,
): () => void {
  const { scheduler, chance, network } = ports;
  let cancel: () => void = () => undefined;
  const become = (health: Health, forMs: number) => {
    network.set(endpoint, health);
    cancel = scheduler.after(forMs, { label: `${endpoint} turns`, deliver: next });
  };
  const next = () => {
    if (network.healthOf(endpoint) === 'healthy') become(chance.pick(bad), chance.wait(chance.pick(illMs)));
    else become('healthy', chance.wait(wellMs));
  };
  become('healthy', chance.wait(wellMs));
  return () => {
    cancel();
    network.forget(endpoint);
  };
}
