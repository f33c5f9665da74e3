/** Does several things at once and hands over the results in their order. */

/**
 * At most `atOnce` results are under way or waiting to be taken. If one fails, it throws after those before it, and
 * begins no more.
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
