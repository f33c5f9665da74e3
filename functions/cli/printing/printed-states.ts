/** What a watch has printed. Only digests are kept, because the texts of a server may be long. */
import { createHash } from 'node:crypto';

/** Whether the state of a key differs from its last one. Of more than `keysMax` keys the oldest are forgotten. */
export function printedStates(keysMax: number): (key: string, state: string) => boolean {
  const states = new Map<string, string>();
  return (key, state) => {
    const [at, digest] = [digestOf(key), digestOf(state)];
    const isNew = states.get(at) !== digest;
    states.delete(at);
    states.set(at, digest);
    const [oldest] = states.keys();
    if (states.size > keysMax && oldest !== undefined) states.delete(oldest);
    return isNew;
  };
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64');
