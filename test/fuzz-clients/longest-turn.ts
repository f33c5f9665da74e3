/** How long the event loop is held at once while something is done, in CPU time of this thread. */

export type LongestTurn<Result> = { readonly ms: number; readonly result: Result };

const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

/** The longest turn of the loop until the promise has settled. Other threads and processes do not count. */
export async function longestTurn<Result>(act: () => Promise<Result>): Promise<LongestTurn<Result>> {
  let ms = 0;
  let isOver = false;
  let lastMs = threadCpuMs();
  const ended = new Promise<void>((resolve) => {
    const look = () => {
      const nowMs = threadCpuMs();
      ms = Math.max(ms, nowMs - lastMs);
      lastMs = nowMs;
      if (isOver) resolve();
      else setImmediate(look);
    };
    setImmediate(look);
  });
  const result = await act().finally(() => {
    isOver = true;
  });
  await ended;
  return { ms, result };
}
