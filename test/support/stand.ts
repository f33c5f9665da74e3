/** Keeps the event loop busy for so long, as a turn with much to do does. */
export function stand(ms: number): void {
  for (const startMs = performance.now(); performance.now() - startMs < ms; );
}
