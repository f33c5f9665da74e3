/** The handler that asks what the healthcheck of a Compose service asks, if a handler does. */

import { handlerOfCommand } from '../command/handler.ts';
import type { Difference } from '../command/reading.ts';
import { isMembers, listOf, type Members } from '../values.ts';
import { orElse, truthValue } from './values.ts';

export type Healthcheck =
  | { readonly kind: 'none' }
  /** `handler` from outside the container. */
  | { readonly kind: 'asks'; readonly handler: Members; readonly differences: readonly Difference[] }
  /** No handler is known to ask that, and why: the command, as it runs in the container. */
  | { readonly kind: 'runs'; readonly command: readonly string[]; readonly reason: string }
  /** There is no command to look at. */
  | { readonly kind: 'unknown'; readonly reason: string };

/** `names`: hosts that mean the container itself. */
export function healthcheckOf(healthcheck: unknown, names: readonly string[]): Healthcheck {
  if (!isMembers(healthcheck) || orElse(truthValue(healthcheck.disable), false)) return { kind: 'none' };
  const { test } = healthcheck;
  const list = typeof test === 'string' ? ['CMD-SHELL', test] : listOf(test).map(String);
  const [form, ...words] = list;
  if (form === 'NONE') return { kind: 'none' };
  if ((form !== 'CMD' && form !== 'CMD-SHELL') || words.length === 0)
    return { kind: 'unknown', reason: 'has a healthcheck whose test is that of the image' };
  // Docker gives further words of CMD-SHELL to the shell, as the script's parameters.
  const command = form === 'CMD' ? words : ['/bin/sh', '-c', ...words];
  // In Compose files `$$` stands for a dollar.
  const reading = handlerOfCommand(
    command.map((word) => word.replaceAll('$$', '$')),
    names,
  );
  return reading.kind === 'asks' ? reading : { ...reading, command };
}
