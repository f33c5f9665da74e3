/** Does several things at once and hands over each result in its turn, as soon as it and those before it are there. */

export type Turns<Item, Result> = {
  /** Things under way, or done before one that is not. The next item is taken once there are fewer. */
  readonly atOnce: number;
  /** Must not reject. */
  readonly work: (item: Item) => Promise<Result>;
  readonly take: (result: Result) => void;
};

/** Resolves when the last result has been taken. Rejects with the error of the items. */
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
