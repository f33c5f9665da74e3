import { storeContract } from '../contract/store.ts';
import { unlimitedAdmission } from './capacity.ts';
import { chanceOf } from './chance.ts';
import { startScheduler } from './clock.ts';
import { callerOf } from './process.ts';
import { storeOf } from './store.ts';
import { table } from './table.ts';

storeContract('the simulated store', () => {
  const chance = chanceOf(1);
  const scheduler = startScheduler(chance);
  const life = { name: 'contract', role: 'contract', alive: true, pausedUntilMs: 0, timersFirst: true, skewMs: 0 };
  const caller = callerOf(scheduler, life, () => undefined);
  const faults = { next: () => undefined };
  const ports = { table: table(scheduler.nowMs), scheduler, chance, faults, admission: unlimitedAdmission };
  // Time passes by itself while the contract's tests wait for answers.
  let open = true;
  const run = async (): Promise<void> => {
    for (let untilMs = 1_000; open; untilMs += 1_000) await scheduler.runUntil(untilMs);
  };
  void run();
  return {
    store: storeOf(ports, caller, 'contract'),
    close: () => {
      open = false;
    },
  };
});
