/** A process of hostile clients. A message begins one kind, after which it answers; another message ends it. */
import { setPriority } from 'node:os';
import { seededRandom } from '../support/seeded-random.ts';
import { attackKinds, begin } from './attack-kinds.ts';

export type AttackOrder =
  | {
      readonly kind: 'begin';
      readonly name: string;
      readonly port: number;
      readonly token: string;
      readonly seed: number;
    }
  | { readonly kind: 'end' };

/** In reality they are elsewhere, and take no time from the machine that they attack. */
setPriority(19);

let attack = new AbortController();
process.on('message', (order: AttackOrder) => {
  attack.abort();
  if (order.kind === 'begin') {
    attack = new AbortController();
    const wanted = attackKinds.find(({ name }) => name === order.name);
    if (!wanted) throw new Error(`no kind ${order.name}`);
    begin(wanted, { port: order.port, token: order.token, random: seededRandom(order.seed), signal: attack.signal });
  }
  process.send?.('done');
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
