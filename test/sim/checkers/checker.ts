/** A checker watches what happens from outside and says what must not have happened. One file for each invariant of docs/architecture.md. */
import type { Published } from '../bus.ts';
import type { SeenAnswer } from '../client.ts';
import type { DoneFault, Profile } from '../faults.ts';
import type { Ledger } from '../ledger.ts';
import type { Network, SeenProbe } from '../network.ts';
import type { AppliedWrite, Table } from '../table.ts';
import type { StartedRun } from '../world.ts';

export type ProbeStart = Pick<SeenProbe, 'endpoint' | 'prober' | 'startMs'>;

export type Watch = {
  readonly applied?: (write: AppliedWrite) => void;
  readonly published?: (published: Published) => void;
  readonly answered?: (answer: SeenAnswer) => void;
  readonly probeStarted?: (start: ProbeStart) => void;
  readonly probeSeen?: (probe: SeenProbe) => void;
  readonly faultDone?: (fault: DoneFault) => void;
  readonly runStarted?: (run: StartedRun) => void;
  /** It has been calm for a quarter of an hour. */
  readonly settled?: () => void;
};

export type Facts = {
  readonly ledger: Ledger;
  readonly table: Table;
  readonly network: Network;
  readonly profile: Profile;
  readonly nowMs: () => number;
};

export type Checker = (facts: Facts, violated: (detail: string) => void) => Watch;
