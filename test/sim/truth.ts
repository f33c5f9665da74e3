/** The real state of the endpoints: healthy most of the time, sometimes failing briefly or for long. */
import type { Chance } from './chance.ts';
import type { Scheduler } from './clock.ts';
import type { Endpoint, Health, Network } from './network.ts';

const wellMs = 25 * 60_000;
const bad: readonly Health[] = ['failing', 'failing', 'failing', 'hanging', 'hanging', 'slow', 'errs'];
/** Shorter than a threshold, about as long, longer. */
const illMs: readonly number[] = [3_000, 15_000, 60_000, 60_000, 300_000, 600_000];

export type LifePorts = { readonly scheduler: Scheduler; readonly chance: Chance; readonly network: Network };

/** Lets an endpoint live; returns what ends that. */
export function endpointLife(ports: LifePorts, endpoint: Endpoint): () => void {
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

const siteWellMs = 6 * 60_000;
const siteIllMs = 2 * 60_000;

export type CommonLife = {
  /** Returns what ends the life of this endpoint. */
  join(endpoint: Endpoint): () => void;
};

/** Endpoints that fail and recover together. */
export function commonLife({ scheduler, chance, network }: LifePorts): CommonLife {
  const endpoints = new Set<Endpoint>();
  let health: Health = 'healthy';
  const turn = () => {
    health = health === 'healthy' ? 'failing' : 'healthy';
    for (const endpoint of endpoints) network.set(endpoint, health);
    turnLater();
  };
  const turnLater = () => {
    const ms = chance.wait(health === 'healthy' ? siteWellMs : siteIllMs);
    scheduler.after(ms, { label: 'the site turns', deliver: turn });
  };
  return {
    join(endpoint) {
      if (endpoints.size === 0) turnLater();
      endpoints.add(endpoint);
      network.set(endpoint, health);
      return () => {
        endpoints.delete(endpoint);
        network.forget(endpoint);
      };
    },
  };
}
