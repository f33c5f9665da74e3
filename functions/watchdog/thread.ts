/**
 * The thread that watches the event loop. It is started from the text of this function, so that the functions on AWS stay one file each:
 * nothing in it may come from outside of it but types.
 */

/** Plain data: it is copied to the thread. */
export type WatchOrder = {
  readonly cells: Int32Array;
  readonly names: Uint8Array;
  readonly at: { readonly turns: number; readonly row: number; readonly entries: number; readonly stopping: number };
  readonly rowBytes: number;
  readonly lengthBytes: number;
  /** How often the thread looks. */
  readonly lookMs: number;
  /** A loop that has not turned for so long hangs. */
  readonly hangMs: number;
  /** The work that the loop has been in for so long without a break is the one that hangs it. */
  readonly namedMs: number;
  /** A process that was told to end has so long. */
  readonly stopMs: number;
  /** How long the hang may take to be remembered. */
  readonly rememberMs: number;
  /** Fields of a log line and the names of two more. */
  readonly line: { readonly fields: object; readonly message: string; readonly time: string };
  /** What the parts of a name are, which are lines. */
  readonly nameParts: readonly string[];
  /** File that gets the name of the work that hung the loop. */
  readonly file?: string;
  /** Module that exports `rememberHang(name, config)`. */
  readonly module?: string;
  readonly config?: unknown;
};

/** Never returns to its caller's world: see above. */
export function watch(): void {
  const { workerData } = process.getBuiltinModule('node:worker_threads');
  const { writeFileSync, writeSync } = process.getBuiltinModule('node:fs');
  const order: WatchOrder = workerData;
  const { cells, at, lookMs } = order;
  let seenMs = performance.now();
  let [turns, entries, stuckMs, sameMs, stoppingMs] = [0, 0, 0, 0, 0];

  const read = (index: number) => Atomics.load(cells, index);

  /** The name of the work that the loop is in, its own work has none. */
  const workName = (): string => {
    const start = read(at.row) * order.rowBytes;
    if (start === 0) return '';
    const row = Buffer.from(order.names.buffer, order.names.byteOffset + start, order.rowBytes);
    return row.toString('latin1', order.lengthBytes, order.lengthBytes + row.readInt32LE());
  };

  const say = (message: string, more: object) => {
    const { fields, message: messageField, time } = order.line;
    const line = { ...fields, [time]: new Date().toISOString(), ...more, [messageField]: message };
    try {
      // Not through the stream of the process, which is the hung loop's to write.
      writeSync(1, `${JSON.stringify(line)}\n`);
    } catch {
      // Nobody reads it; the process ends all the same.
    }
  };

  const kill = () => void process.kill(process.pid, 'SIGKILL');

  const remember = async (name: string) => {
    try {
      if (order.file) writeFileSync(order.file, name, { mode: 0o600 });
      if (order.module) await (await import(order.module)).rememberHang(name, order.config);
    } catch (error) {
      say('the hang could not be remembered', { cause: String(error) });
    }
  };

  const end = () => {
    clearInterval(looking);
    const name = sameMs >= order.namedMs ? workName() : '';
    const parts = name === '' ? [] : name.split('\n').map((part, index) => [order.nameParts[index], part]);
    say('the event loop hangs: the process ends', { hungMs: Math.round(stuckMs), ...Object.fromEntries(parts) });
    if (name === '') return kill();
    setTimeout(kill, order.rememberMs);
    void remember(name).then(kill);
  };

  const look = () => {
    const nowMs = performance.now();
    const passedMs = nowMs - seenMs;
    seenMs = nowMs;
    // A machine that slept, or has no time for this thread, has none for the loop.
    const countedMs = passedMs < 2 * lookMs ? passedMs : 0;
    stuckMs = read(at.turns) === turns ? stuckMs + countedMs : 0;
    sameMs = stuckMs > 0 && read(at.entries) === entries ? sameMs + countedMs : 0;
    stoppingMs += read(at.stopping) * passedMs;
    [turns, entries] = [read(at.turns), read(at.entries)];
    if (stuckMs >= order.hangMs) return end();
    if (stoppingMs < order.stopMs) return;
    say('the process did not end in time: it is killed', {});
    kill();
  };
  const looking = setInterval(look, lookMs);
}
