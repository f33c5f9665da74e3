/**
 * A prober's room and the targets beyond it: two network namespaces with one link between them. Each end sets up
 * itself. The machine's network is not affected, and the kernel removes the namespaces with their last process.
 */
import { execFileSync } from 'node:child_process';

const roomAddress = '10.230.0.1';
const beyondAddress = '10.230.0.2';
const beyondNetwork = '10.231.0.0/16';
const ends = { room: 'room0', beyond: 'beyond0' } as const;

/** Where the names are resolved: the room's way out is known by it. */
export const dnsAddress = '10.231.0.1';

/** Of all targets. */
export const webPort = 8_080;

/** One address a target. */
export const targetAddress = (at: number): string => `10.231.${1 + Math.floor(at / 200)}.${1 + (at % 200)}`;

/** `no route`: every dial fails at once. `silence`: packets leave and no answer comes. */
export const cuts = ['no route', 'silence'] as const;
export type Cut = (typeof cuts)[number];

const ip = (...args: readonly string[]): void =>
  void execFileSync('ip', [...args], { stdio: ['ignore', 'ignore', 'pipe'] });

export function layLink(beyondPid: number): void {
  ip('link', 'set', 'lo', 'up');
  ip('link', 'add', ends.room, 'type', 'veth', 'peer', 'name', ends.beyond, 'netns', `${beyondPid}`);
  ip('addr', 'add', `${roomAddress}/30`, 'dev', ends.room);
  ip('link', 'set', ends.room, 'up');
}

/** Every address of the network is this end's own. */
export function answerLink(): void {
  ip('link', 'set', 'lo', 'up');
  ip('addr', 'add', `${beyondAddress}/30`, 'dev', ends.beyond);
  ip('link', 'set', ends.beyond, 'up');
  ip('route', 'add', 'local', beyondNetwork, 'dev', 'lo');
}

/** The room's end. */
export const giveRoute = (): void => ip('route', 'add', beyondNetwork, 'via', beyondAddress);
export const takeRoute = (): void => ip('route', 'del', beyondNetwork);

/** The far end. */
export const fallSilent = (): void => ip('route', 'add', 'blackhole', `${roomAddress}/32`);
export const speakAgain = (): void => ip('route', 'del', 'blackhole', `${roomAddress}/32`);
