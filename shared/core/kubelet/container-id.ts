/** Container IDs as kubelet reads them (pkg/kubelet/container, ParseString). */

import { trimOf } from '../go/text.ts';

/** How kubelet writes an absent ID. It is a key of the results cache like any other. */
export const emptyContainerID = '://';

/**
 * The key of a container's results: the text itself, or `://` unless it is exactly two parts around one `://`. Quotes
 * around the text are ignored.
 */
export function parseContainerID(text: string): string {
  const unquoted = trimOf(text, '"');
  return unquoted.split('://').length === 2 ? unquoted : emptyContainerID;
}
