/** All checkers, by the invariant's name: those of the design, and some for published events and the API. */
import type { Checker } from './checker.ts';
import { early } from './early.ts';
import { fresh } from './fresh.ts';
import { holdOwner } from './hold-owner.ts';
import { inOrder } from './in-order.ts';
import { l1 } from './l1.ts';
import { l2 } from './l2.ts';
import { l3 } from './l3.ts';
import { l4 } from './l4.ts';
import { l5 } from './l5.ts';
import { l6 } from './l6.ts';
import { l7 } from './l7.ts';
import { noHolder } from './no-holder.ts';
import { pressed } from './pressed.ts';
import { publications } from './published.ts';
import { purges } from './purges.ts';
import { restarts } from './restarts.ts';
import { s1 } from './s1.ts';
import { s2 } from './s2.ts';
import { s3 } from './s3.ts';
import { s4 } from './s4.ts';
import { s5 } from './s5.ts';
import { s6 } from './s6.ts';
import { s7 } from './s7.ts';
import { s8 } from './s8.ts';
import { s9 } from './s9.ts';
import { sockets } from './sockets.ts';
import { surge } from './surge.ts';
import { terminating } from './terminating.ts';
import { tried } from './tried.ts';
import { wrongClocks } from './wrong-clocks.ts';

export const checkers: { readonly [invariant: string]: Checker } = {
  S1: s1,
  S2: s2,
  S5: s5,
  S6: s6,
  S8: s8,
  S9: s9,
  NoHolder: noHolder,
  HoldOwner: holdOwner,
  WrongClocks: wrongClocks,
  Sockets: sockets,
  Surge: surge,
  Pressed: pressed,
  Terminating: terminating,
  Tried: tried,
};

/** Those of invariants that hold only while wall clocks differ by a few seconds. */
export const wallClockCheckers: typeof checkers = {
  S3: s3,
  S4: s4,
  S7: s7,
  L1: l1,
  L2: l2,
  L3: l3,
  L4: l4,
  L5: l5,
  L6: l6,
  L7: l7,
  InOrder: inOrder,
  Fresh: fresh,
  Early: early,
  Restarts: restarts,
  Purges: purges,
  Published: publications,
};
