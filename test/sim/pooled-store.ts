/**
 * The sockets of one DynamoDB client. A call waits for a free socket within its time-out: the adapter sends a read
 * twice and a write four times before it gives up.
 */
import { type Store, StoreUnavailable } from '../../shared/store/store.ts';
import type { Caller } from './process.ts';

/** Of the SDK's request handler. */
const socketsMax = 50;
const requestTimeoutMs = 1_500;
const readSends = 2;
const writeSends = 4;

export function pooledStore(store: Store, caller: Caller): Store {
  const waiting: (() => void)[] = [];
  let taken = 0;

  /** false: none became free in time. */
  const socket = async (sends: number): Promise<boolean> => {
    if (taken < socketsMax) {
      taken += 1;
      return true;
    }
    const isFree = await caller.call<boolean>('socket of the store', (reply) => {
      const give = () => {
        cancel();
        reply(0, () => true);
      };
      const cancel = reply(sends * requestTimeoutMs, () => {
        waiting.splice(waiting.indexOf(give), 1);
        return false;
      });
      waiting.push(give);
    });
    return isFree;
  };

  /** Its socket goes to the call that has waited longest. */
  const release = () => {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  };

  const during = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    try {
      return await call();
    } finally {
      release();
    }
  };

  const read = async <Answer>(call: () => Promise<Answer>): Promise<Answer> => {
    if (!(await socket(readSends))) throw new StoreUnavailable('no socket was free in time');
    return during(call);
  };

  return {
    get: (key, options) => read(() => store.get(key, options)),
    query: (query) => read(() => store.query(query)),
    async write(operations, options) {
      if (!(await socket(writeSends))) return { kind: 'inDoubt' };
      return during(() => store.write(operations, options));
    },
  };
}
