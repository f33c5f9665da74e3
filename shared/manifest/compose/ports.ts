/** The ports that a Compose service publishes: which port of the host leads to which port of the container. */

import { isMembers, listOf, type Members } from '../values.ts';
import { hasVariable, wholeNumber } from './values.ts';

/** A range of ports; one port is a range of one. */
type Range = { readonly from: number; readonly to: number };
/** Ports of the container, and as many of the host; or one port, and those of the host that Docker may choose from. */
type Published = { readonly inside: Range; readonly outside: Range };

/**
 * The port of the host for a port of the container: the first one where Docker chooses from several, which it tries
 * first. Undefined: it is not published, or at any port.
 */
export function publishedPort(ports: unknown, port: number): number | undefined {
  const found = publicationOf(ports, port);
  return found && found.outside.from + (port - found.inside.from);
}

/** Why a probe of that port from outside may miss it; undefined: it is published at a known port. */
export function publicationRemark(ports: unknown, port: number): string | undefined {
  const found = publicationOf(ports, port);
  if (found && isFixed(found)) return undefined;
  if (found)
    return `publishes port ${port} at one of ${found.outside.from} to ${found.outside.to}: the first is dialled`;
  const known = hasVariable(JSON.stringify(listOf(ports)))
    ? `publishes ports by variables, of which docker compose config knows the values: port ${port}`
    : `does not publish port ${port}, which`;
  return `${known} is dialled as it is`;
}

function publicationOf(ports: unknown, port: number): Published | undefined {
  const found = listOf(ports)
    .flatMap(publishedOf)
    .filter(({ inside }) => inside.from <= port && port <= inside.to);
  return found.find(isFixed) ?? found[0];
}

const sizeOf = ({ from, to }: Range): number => to - from + 1;

const isFixed = ({ inside, outside }: Published): boolean => sizeOf(inside) === sizeOf(outside);

function publishedOf(entry: unknown): readonly Published[] {
  if (isMembers(entry)) return publishedByFields(entry);
  const [ports = '', protocol = 'tcp'] = (typeof entry === 'string' ? entry : '').split('/');
  const parts = ports.split(':');
  const inside = rangeOf(parts.at(-1) ?? '');
  const outside = parts.length < 2 ? undefined : rangeOf(parts.at(-2) ?? '');
  return inside && outside && isTcp(protocol) ? joined(inside, outside) : [];
}

function publishedByFields({ target, published, protocol }: Members): readonly Published[] {
  const inside = wholeNumber(target);
  const outside = rangeOf(String(published));
  if (inside.kind !== 'value' || !outside || !isTcp(protocol ?? 'tcp')) return [];
  return joined({ from: inside.value, to: inside.value }, outside);
}

/** Docker refuses ranges of different lengths, unless one port of the container has several to choose from. */
function joined(inside: Range, outside: Range): readonly Published[] {
  const published = { inside, outside };
  return isFixed(published) || sizeOf(inside) === 1 ? [published] : [];
}

const isTcp = (protocol: unknown): boolean => String(protocol).toLowerCase() === 'tcp';

/** `8080` or `3000-3005`. */
function rangeOf(text: string): Range | undefined {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text) ?? [];
  const range = { from: Number(from), to: Number(to || from) };
  // Zero is any port.
  return range.from === 0 || sizeOf(range) < 1 ? undefined : range;
}
