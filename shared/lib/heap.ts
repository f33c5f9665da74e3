/** A binary min-heap of entries ordered by due time. */
export type Due<Entry> = { readonly dueMs: number; readonly entry: Entry };

export type Heap<Entry> = {
  push(due: Due<Entry>): void;
  /** Returns the earliest entry without removing it. */
  peek(): Due<Entry> | undefined;
  pop(): Due<Entry> | undefined;
  size(): number;
};

export function dueHeap<Entry>(): Heap<Entry> {
  const dues: Due<Entry>[] = [];
  return {
    push(due) {
      dues.push(due);
      siftUp(dues, dues.length - 1);
    },
    peek: () => dues[0],
    pop() {
      const first = dues[0];
      const last = dues.pop();
      if (last && dues.length > 0) {
        dues[0] = last;
        siftDown(dues, 0);
      }
      return first;
    },
    size: () => dues.length,
  };
}

function siftUp<Entry>(dues: Due<Entry>[], from: number): void {
  let at = from;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!swapIfLess(dues, at, parent)) return;
    at = parent;
  }
}

function siftDown<Entry>(dues: Due<Entry>[], from: number): void {
  let at = from;
  for (;;) {
    const left = 2 * at + 1;
    const right = left + 1;
    const child = dueAt(dues, right) < dueAt(dues, left) ? right : left;
    if (child >= dues.length || !swapIfLess(dues, child, at)) return;
    at = child;
  }
}

const dueAt = <Entry>(dues: readonly Due<Entry>[], at: number): number => dues[at]?.dueMs ?? Number.POSITIVE_INFINITY;

function swapIfLess<Entry>(dues: Due<Entry>[], low: number, high: number): boolean {
  const [a, b] = [dues[low], dues[high]];
  if (!a || !b || a.dueMs >= b.dueMs) return false;
  dues[low] = b;
  dues[high] = a;
  return true;
}
