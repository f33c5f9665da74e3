/** Reads what V8 writes as a heap snapshot: flat arrays of numbers, whose fields the snapshot names itself. */

/** A node is an index; its edges lead to others. */
export type Heap = {
  readonly nodes: number;
  bytes(node: number): number;
  /** `object`, `array`, `string`, `closure`, `code` and others. */
  type(node: number): string;
  /** Of a property, its name; otherwise a word of V8 or a number. */
  edges(node: number): readonly Edge[];
};

export type Edge = { readonly type: string; readonly name: string; readonly to: number };

type Snapshot = {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      readonly node_types: readonly [readonly string[], ...unknown[]];
      readonly edge_fields: readonly string[];
      readonly edge_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly edges: readonly number[];
  readonly strings: readonly string[];
};

/** Names are kept as numbers in the types of edges that count instead of naming. */
const numbered: ReadonlySet<string> = new Set(['element', 'hidden']);

export function heapOf(text: string): Heap {
  const { snapshot, nodes, edges, strings } = JSON.parse(text) as Snapshot;
  const { node_fields, node_types, edge_fields, edge_types } = snapshot.meta;
  const [width, edgeWidth] = [node_fields.length, edge_fields.length];
  const [typeAt, bytesAt, countAt] = ['type', 'self_size', 'edge_count'].map((name) => node_fields.indexOf(name)) as [
    number,
    number,
    number,
  ];
  const at = (index: number): number => nodes[index] ?? 0;
  const firstEdges = new Uint32Array(nodes.length / width + 1);
  for (let node = 0; node < firstEdges.length - 1; node += 1)
    firstEdges[node + 1] = (firstEdges[node] ?? 0) + at(node * width + countAt);
  const edgeOf = (index: number): Edge => {
    const [type = 0, name = 0, to = 0] = edges.slice(index * edgeWidth, index * edgeWidth + 3);
    const typeName = edge_types[0][type] ?? '';
    return { type: typeName, name: numbered.has(typeName) ? `${name}` : (strings[name] ?? ''), to: to / width };
  };
  return {
    nodes: nodes.length / width,
    bytes: (node) => at(node * width + bytesAt),
    type: (node) => node_types[0][at(node * width + typeAt)] ?? '',
    edges(node) {
      const first = firstEdges[node] ?? 0;
      return Array.from({ length: (firstEdges[node + 1] ?? first) - first }, (_, index) => edgeOf(first + index));
    },
  };
}
