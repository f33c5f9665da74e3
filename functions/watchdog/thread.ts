/**
 * The thread that watches the event loop. It is started from this function's source text, so that each function on AWS
 * stays a single file. The function must therefore not use anything from outside except types.
 */

/** Plain data that is copied to the thread. */
export type WatchOrder = {
  readonly cells: Int32Array;
  readonly names: Uint8Array;
  readonly at: { readonly turns: number; readonly row: number; readonly entries: number; readonly stopping: number };
  readonly rowBytes: number;
  readonly lengthBytes: number;
  /** The interval of the checks. */
  readonly lookMs: number;
  /** The loop hangs if it has not turned for this long. */
  readonly hangMs: number;
  /** Work that the loop has been running for this long without interruption is reported as the cause of the hang. */
  readonly namedMs: number;
  /** How long a process that was asked to stop may take. */
  readonly stopMs: number;
  /** How long recording the hang may take. */
  readonly rememberMs: number;
  /** The fixed fields of a log line, and the names of its message and time fields. */
  readonly line: { readonly fields: object; readonly message: string; readonly time: string };
  /** The names of the parts of a work name, which are separated by line breaks. */
  readonly nameParts: readonly string[];
  /** The file that receives the name of the work that hung the loop. */
  readonly file?: string;
  /** The module that exports `rememberHang(name, config)`. */
  readonly module?: string;
  readonly config?: unknown;
};

/** Runs in the thread and uses nothing from this module; see above. */
export function watch(): void {
  const { workerData } = process.getBuiltinModule('node:worker_threads');
  const { writeFileSync, writeSync } = process.getBuiltinModule('node:fs');
  const order: WatchOrder = workerData;
  const { cells, at, lookMs } = order;
  let seenMs = performance.now();
  let [turns, entries, stuckMs, sameMs, stoppingMs] = [0, 0, 0, 0, 0];

  const read = (index: number) => Atomics.load(cells, index);

  /** Returns the name of the running work, or an empty text if there is none. */
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
      // Bypasses the process's stream, which needs the hung event loop.
      writeSync(1, `${JSON.stringify(line)}\n`);
    } catch {
      // The output is closed; the process ends anyway.
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
    // If the machine was suspended or this thread got no CPU time, the loop got none either.
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
