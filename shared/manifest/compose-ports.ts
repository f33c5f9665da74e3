/** The ports that a Compose service publishes: which port of the host leads to which port of the container. */
import { hasVariable, wholeNumber } from './compose-values.ts';
import { isMembers, listOf, type Members } from './values.ts';

/** A range of ports; one port is a range of one. */
type Range = { readonly from: number; readonly to: number };
type Published = Range & { readonly published: number };

/** The port of the host for a port of the container; undefined: it is not published, or at a port by chance. */
export function publishedPort(ports: unknown, port: number): number | undefined {
  const found = listOf(ports)
    .flatMap(publishedOf)
    .find(({ from, to }) => from <= port && port <= to);
  return found && found.published + (port - found.from);
}

/** Whether some port is published where only `docker compose config` knows. */
export const arePortsVariable = (ports: unknown): boolean => hasVariable(JSON.stringify(listOf(ports)));

function publishedOf(entry: unknown): readonly Published[] {
  if (isMembers(entry)) return publishedByFields(entry);
  const [ports = '', protocol = 'tcp'] = (typeof entry === 'string' ? entry : '').split('/');
  const parts = ports.split(':');
  const inside = rangeOf(parts.at(-1) ?? '');
  const outside = parts.length < 2 ? undefined : rangeOf(parts.at(-2) ?? '');
  if (!inside || !outside || !isTcp(protocol)) return [];
  return [{ ...inside, published: outside.from }];
}

function publishedByFields({ target, published, protocol }: Members): readonly Published[] {
  const inside = wholeNumber(target);
  const outside = rangeOf(String(published));
  if (inside.kind !== 'value' || !outside || !isTcp(protocol ?? 'tcp')) return [];
  return [{ from: inside.value, to: inside.value, published: outside.from }];
}

const isTcp = (protocol: unknown): boolean => String(protocol).toLowerCase() === 'tcp';

/** `8080` or `3000-3005`. */
function rangeOf(text: string): Range | undefined {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  // Zero is a port by chance.
  return from === '' || Number(from) === 0 ? undefined : { from: Number(from), to: Number(to || from) };
}
