/** All checkers, by the invariant's name. */
import type { Checker } from './checker.ts';
import { s1 } from './s1.ts';
import { s2 } from './s2.ts';
import { s5 } from './s5.ts';
import { s6 } from './s6.ts';
import { s8 } from './s8.ts';
import { s9 } from './s9.ts';

export const checkers: { readonly [invariant: string]: Checker } = { S1: s1, S2: s2, S5: s5, S6: s6, S8: s8, S9: s9 };
