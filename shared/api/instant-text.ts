/** How the API writes an instant. */

/** RFC 3339, in whole seconds where there are no others, as Kubernetes writes it. */
export function instantText(timeMs: number): string {
  const text = new Date(timeMs).toISOString();
  return timeMs % 1000 === 0 ? `${text.slice(0, -'.000Z'.length)}Z` : text;
}
