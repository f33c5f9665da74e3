/** Does several things at once and hands over the results in the order of the things. */
type Turns<Item, Result> = {
  /** Things under way, or done before one that is not. The next item is taken once there are fewer. */
  readonly atOnce: number;
  /** Must not reject. */
  readonly work: (item: Item) => Promise<Result>;
  readonly take: (result: Result) => void;
};

/** Gives each result to `take`. Resolves when the last one has been taken. Rejects with the error of the items. */
export async function inTurn<Item, Result>(
  items: AsyncIterable<Item>,
  { atOnce, work, take }: Turns<Item, Result>,
): Promise<void> {
  const taken: Promise<void>[] = [];
  let last = Promise.resolve();
  for await (const item of items) {
    last = takenAfter(last, work(item));
    taken.push(last);
    if (taken.length >= atOnce) await taken.shift();
  }
  await last;

  async function takenAfter(before: Promise<void>, result: Promise<Result>): Promise<void> {
    const [own] = await Promise.all([result, before]);
    take(own);
  }
}

/**
 * Yields the results. At most `atOnce` of them are under way or waiting to be taken. If one fails, it throws after
 * those before it, and begins no more.
 */
export async function* inOrder<Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  for (const item of items) {
    const result = work(item);
    // It is awaited below; a failure of one before it must not leave it unhandled.
    result.catch(() => undefined);
    begun.push(result);
    if (begun.length === atOnce) yield* begun.splice(0, 1);
  }
  yield* begun;
}
