/**
 * What is true in the world, kept apart from the product: which targets are down and which of them the alert is about,
 * since when, and when a fault last stood in the way of reporting it.
 */

export type TargetTruth = {
  readonly name: string;
  readonly port: number;
  readonly periodSeconds: number;
  isDown: boolean;
  /** Its label `team`, as it was last acknowledged. undefined: the last change was not, and may count or not. */
  team: string | undefined;
  /** When it turned, and when its label changed, monotonic ms of the world. */
  turnedMs: number;
  editedMs: number;
  /** When it was last probed. */
  probedMs: number;
};

export type Truth = {
  readonly targets: readonly TargetTruth[];
  /** The teams that the alert is about. */
  teams: readonly string[];
  teamsChangedMs: number;
  /** Whether the alert about the prober itself is configured, and since when it is so. */
  hasProberAlert: boolean;
  proberAlertChangedMs: number;
};

/** The alert about targets, and the one about the prober. */
export const targetAlert = 'down';
export const proberAlert = 'prober';

/** undefined: not known. */
export function shouldBeOpen({ teams }: Truth, { isDown, team }: TargetTruth): boolean | undefined {
  if (!isDown) return false;
  return team === undefined ? undefined : teams.includes(team);
}
