/**
 * The world that a mutant lives in: as harsh as it has to be where its protection matters, and no harsher elsewhere.
 */
import type { crashPoints } from '../crash-points.ts';
import type { FaultKind, Profile, planFaults } from '../faults.ts';
import type { Process } from '../process.ts';
import type { WorldName } from '../setting.ts';
import type { endpointLife } from '../truth.ts';
import { always, inSimulator, type Replacement } from './replacement.ts';

export type MutantWorld = {
  readonly profile: Profile;
  /** Absent: the small one. */
  readonly setting?: WorldName;
  /** Of all that can go wrong only this, each as often as the others. */
  readonly kinds?: readonly FaultKind[];
  /** Faults of a process strike these only. */
  readonly roles?: readonly string[];
  /** Crashes and pauses happen where such a call is about to leave, and nowhere else. */
  readonly site?: string;
  /** Endpoints that turn often: means, ms. */
  readonly flapping?: { readonly wellMs: number; readonly illMs: number };
  /** The average time between changes, or re-creations, of a target. */
  readonly restMs?: number;
  /** Endpoints that all hang from then on. */
  readonly hangingFromMs?: number;
};

/** What has to be replaced of the simulator's own for it. */
export function worldReplacements({
  kinds,
  roles,
  site,
  flapping,
  restMs,
  hangingFromMs,
}: MutantWorld): readonly Replacement[] {
  return [
    ...(kinds || roles ? [chosenFaults(kinds, roles)] : []),
    ...(site === undefined ? [] : [chosenSite(site)]),
    ...(flapping ? [flappingLife(flapping)] : []),
    ...(restMs === undefined ? [] : [restlessOperator(restMs)]),
    ...(hangingFromMs === undefined ? [] : [hangingLife(hangingFromMs)]),
  ];
}

const chosenFaults = (kinds: readonly FaultKind[] | undefined, roles: readonly string[] | undefined) =>
  inSimulator<typeof planFaults>('planFaults', (original, removed) => (ports) => {
    const { chance } = ports;
    const isChosen = (kind: unknown) => kinds === undefined || kinds.some((one) => one === kind);
    const isStruck = (item: unknown) => roles === undefined || roles.some((role) => roleOf(item) === role);
    const pick = <Item>(items: readonly Item[]): Item => {
      if (items.some((item) => item === 'release change')) {
        removed();
        return chance.pick([...new Set(items.filter(isChosen))]);
      }
      const struck = items.filter(isStruck);
      // Faults of probes strike a worker, whatever the roles.
      return chance.pick(struck.length === 0 ? items : struck);
    };
    return original({ ...ports, chance: { ...chance, pick } });
  });

const roleOf = (item: unknown): unknown =>
  typeof item === 'object' && item !== null && 'role' in item ? item.role : undefined;

const chosenSite = (chosen: string) =>
  inSimulator<typeof crashPoints>('crashPoints', (original, removed) => (...args) => {
    const points = original(...args);
    const armed = new Map<Process, () => void>();
    return {
      ...points,
      at(life, site, moment) {
        points.at(life, site, moment);
        if (moment !== 'before' || !site.includes(chosen)) return;
        const [process, act] = [...armed].find(([one]) => one.life() === life) ?? [];
        if (!process || !act) return;
        removed();
        armed.delete(process);
        act();
      },
      arm: (process, act) => void armed.set(process, act),
    };
  });

const flappingLife = ({ wellMs, illMs }: NonNullable<MutantWorld['flapping']>) =>
  inSimulator<typeof endpointLife>('endpointLife', (_, removed) => ({ scheduler, chance, network }, endpoint) => {
    removed();
    let cancel: () => void = () => undefined;
    const become = (isWell: boolean) => {
      network.set(endpoint, isWell ? 'healthy' : 'failing');
      const forMs = chance.wait(isWell ? wellMs : illMs);
      cancel = scheduler.after(forMs, { label: `${endpoint} turns`, deliver: () => become(!isWell) });
    };
    become(true);
    return () => {
      cancel();
      network.forget(endpoint);
    };
  });

const restlessOperator = (restMs: number) => inSimulator('restMsOf', always(restMs));

const hangingLife = (fromMs: number) =>
  inSimulator<typeof endpointLife>('endpointLife', (_, removed) => ({ scheduler, network }, endpoint) => {
    removed();
    network.set(endpoint, 'healthy');
    const hang = () => network.set(endpoint, 'hanging');
    const cancel = scheduler.after(fromMs - scheduler.nowMs(), { label: `${endpoint} hangs`, deliver: hang });
    return () => {
      cancel();
      network.forget(endpoint);
    };
  });
