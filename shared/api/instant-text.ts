/** How the API writes an instant. */

/** RFC 3339, in whole seconds where there are no others, as Kubernetes writes it. */
export const instantText = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');
