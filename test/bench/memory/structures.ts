/** What each of many like objects holds alone, by the properties that lead to it. */
import type { Edge, Heap } from './heap-snapshot.ts';

/** Bytes by path, such as `status.status`; the whole is under the empty path. */
export type Structures = ReadonlyMap<string, number>;

/** An owner that leads to more has run into something that all share. */
const nodesMax = 5_000;
/** Names in a path: `probes.spec` says enough. */
const namesMax = 2;

/** Code, hidden classes, prototypes and what an object is only reachable from weakly belong to all. */
const isOwning = ({ type, name }: Edge): boolean =>
  type !== 'weak' && name !== '__proto__' && name !== 'map' && name !== 'constructor';
const ownedTypes: ReadonlySet<string> = new Set([
  'object',
  'array',
  'string',
  'concatenated string',
  'closure',
  'hidden',
  'number',
  'native',
  'sliced string',
  'bigint',
]);

const shared = -2;

/**
 * Of the objects with these properties: the median of what each leads to and no other does. What two of them lead to
 * counts for none.
 */
export function structuresOf(
  heap: Heap,
  properties: readonly string[],
): { readonly owners: number; readonly held: Structures } {
  const owners = ownersOf(heap, properties);
  const isOwner = new Set(owners);
  const ownerOf = new Int32Array(heap.nodes).fill(-1);
  for (const owner of owners) walk(heap, owner, { isOwner, take: (node) => take(ownerOf, node, owner) });
  const found = owners.map((owner) => {
    const held = new Map<string, number>();
    const seen = new Set<number>();
    walk(heap, owner, {
      isOwner,
      take: (node) => ownerOf[node] === owner && !seen.has(node) && seen.add(node) !== undefined,
      visit: (node, path) => held.set(path, (held.get(path) ?? 0) + heap.bytes(node)),
    });
    return held;
  });
  const paths = new Set(found.flatMap((held) => [...held.keys()]));
  return {
    owners: owners.length,
    held: new Map([...paths].map((path) => [path, median(found.map((held) => held.get(path) ?? 0))])),
  };
}

function ownersOf(heap: Heap, properties: readonly string[]): readonly number[] {
  const owners: number[] = [];
  for (let node = 0; node < heap.nodes; node += 1) {
    if (heap.type(node) !== 'object') continue;
    const names = new Set(heap.edges(node).flatMap(({ type, name }) => (type === 'property' ? [name] : [])));
    if (properties.every((name) => names.has(name))) owners.push(node);
  }
  return owners;
}

/** Whether to go on from the node: it is this owner's so far. */
function take(ownerOf: Int32Array, node: number, owner: number): boolean {
  const before = ownerOf[node];
  if (before === -1) ownerOf[node] = owner;
  else if (before !== owner) ownerOf[node] = shared;
  return before === -1;
}

type Walk = {
  readonly isOwner: ReadonlySet<number>;
  readonly take: (node: number) => boolean;
  readonly visit?: (node: number, path: string) => void;
};

function walk(heap: Heap, owner: number, { isOwner, take, visit }: Walk): void {
  const queue: { readonly node: number; readonly path: readonly string[] }[] = [{ node: owner, path: [] }];
  take(owner);
  visit?.(owner, '(itself)');
  for (let next = 0; next < Math.min(queue.length, nodesMax); next += 1) {
    const { node, path } = queue[next] as (typeof queue)[number];
    for (const edge of heap.edges(node)) {
      const { to } = edge;
      if (!isOwning(edge) || !ownedTypes.has(heap.type(to)) || isOwner.has(to) || !take(to)) continue;
      const further = edge.type === 'property' && path.length < namesMax ? [...path, edge.name] : path;
      visit?.(to, further.join('.') || '(itself)');
      queue.push({ node: to, path: further });
    }
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
