/** How far the wall clock of a process may be off the true time where rules that read wall clocks are held. */
export const smallSkewMs = 2_000;
