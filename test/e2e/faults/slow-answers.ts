/** How long a slow target takes to answer, of a time-out of a second. */
export const slowMs = 600;
export const timeoutMs = 1_000;
