/** The ports that a Compose service publishes: which port of the host leads to which port of the container. */
import { isMembers, listOf, numberOf, textOf } from './values.ts';

/** A range of ports; one port is a range of one. */
type Published = { readonly from: number; readonly to: number; readonly published: number };

/** The port of the host for a port of the container; undefined: it is not published, or at a port by chance. */
export function publishedPort(ports: unknown, port: number): number | undefined {
  const found = listOf(ports)
    .flatMap(publishedOf)
    .find(({ from, to }) => from <= port && port <= to);
  return found && found.published + (port - found.from);
}

function publishedOf(entry: unknown): readonly Published[] {
  if (isMembers(entry)) {
    const { target, published, protocol = 'tcp' } = entry;
    const from = numberOf(target);
    const to = rangeOf(String(published));
    return from === undefined || to === undefined || protocol !== 'tcp' ? [] : [{ from, to: from, published: to.from }];
  }
  const [ports = '', protocol = 'tcp'] = (textOf(entry) ?? '').split('/');
  const parts = ports.split(':');
  const inside = rangeOf(parts.at(-1) ?? '');
  const outside = parts.length < 2 ? undefined : rangeOf(parts.at(-2) ?? '');
  if (!inside || !outside || protocol !== 'tcp') return [];
  return [{ from: inside.from, to: inside.to, published: outside.from }];
}

/** `8080` or `3000-3005`. */
function rangeOf(text: string): { readonly from: number; readonly to: number } | undefined {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  return from === '' ? undefined : { from: Number(from), to: Number(to || from) };
}
