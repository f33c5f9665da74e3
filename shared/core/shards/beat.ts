/** The beats of a run, as other processes read them from RUN. */

/** The number of a run's last beat, which means that the run ended in order. */
export const lastBeat = -1;

/** Longer than a beat and its first repetition take. A run that has not beaten for this long may have ended. */
export const lookAgainMs = 6_000;
