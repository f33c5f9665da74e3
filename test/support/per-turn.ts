/** Counts what happens in one turn of the event loop; `most` is the highest count so far. */
export function perTurn() {
  const seen = { most: 0, all: 0 };
  let now = 0;
  return {
    seen,
    count: () => {
      if (now === 0)
        setImmediate(() => {
          now = 0;
        });
      now += 1;
      seen.all += 1;
      seen.most = Math.max(seen.most, now);
    },
  };
}

/** Holds the loop like the cheapest request of a slow machine. */
export function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
