/** How the texts of a case's events differ from kubelet's. Pure. */
import type { Lifecycle } from './translation.ts';

/** Each text: `Reason: message`. */
export type Texts = {
  readonly expected: readonly string[];
  readonly possible: readonly string[];
  readonly recorded: readonly string[];
};

/** The cluster's own, as it ends a Pod. */
const isOfTermination = (text: string): boolean => text.startsWith('Killing: Stopping container ');
const isKill = (text: string): boolean => text.startsWith('Killing: ');

/**
 * Reported: exactly the expected texts. Static: a request for a restart is worded as such, and as no report says that a
 * container has ended, it is probed while it is restarted, which has texts of its own (difference 9).
 */
export function textFaults({ expected, possible, recorded }: Texts, lifecycle: Lifecycle): readonly string[] {
  const isReported = lifecycle === 'reported';
  const said = new Set(recorded.filter((text) => !isOfTermination(text)));
  const missing = expected.filter((text) => !said.has(text) && (isReported || !isKill(text)));
  const others = [...said].filter((text) => isReported && !expected.includes(text) && !possible.includes(text));
  return [
    ...missing.map((text) => `kubelet says ${JSON.stringify(text)}`),
    ...others.map((text) => `probelet says ${JSON.stringify(text)}`),
  ];
}
