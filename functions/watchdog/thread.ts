/**
 * The thread that watches the event loop. It is started from the source text of the functions below, so that each
 * function on AWS stays a single file. They must therefore not use anything from outside except types.
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
  /** The loop hangs if for this long it has neither turned nor begun any work. */
  readonly hangMs: number;
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

/** How the thread ends the process. */
type Ending = {
  /** The loop hangs. `work` is the name of its cause, or an empty text if the cause is unknown. */
  readonly hung: (stuckMs: number, work: string) => void;
  /** The process was asked to stop and did not. */
  readonly overdue: () => void;
};

function ending(): Ending {
  const { workerData } = process.getBuiltinModule('node:worker_threads');
  const { writeFileSync, writeSync } = process.getBuiltinModule('node:fs');
  const order: WatchOrder = workerData;

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
  const remember = async (work: string) => {
    try {
      if (order.file) writeFileSync(order.file, work, { mode: 0o600 });
      if (order.module) await (await import(order.module)).rememberHang(work, order.config);
    } catch (error) {
      say('the hang could not be remembered', { cause: String(error) });
    }
  };
  return {
    hung: (stuckMs, work) => {
      const parts = work === '' ? [] : work.split('\n').map((part, index) => [order.nameParts[index], part]);
      say('the event loop hangs: the process ends', { hungMs: Math.round(stuckMs), ...Object.fromEntries(parts) });
      if (work === '') return kill();
      setTimeout(kill, order.rememberMs);
      void remember(work).then(kill);
    },
    overdue: () => {
      say('the process did not end in time: it is killed', {});
      kill();
    },
  };
}

function watch({ hung, overdue }: Ending): void {
  const order: WatchOrder = process.getBuiltinModule('node:worker_threads').workerData;
  const { cells, at, lookMs } = order;
  let seenMs = performance.now();
  let [turns, entries, stuckMs, stoppingMs] = [0, 0, 0, 0];

  const read = (index: number) => Atomics.load(cells, index);

  /** Returns the name of the running work, or an empty text if there is none. */
  const workName = (): string => {
    const start = read(at.row) * order.rowBytes;
    if (start === 0) return '';
    const row = Buffer.from(order.names.buffer, order.names.byteOffset + start, order.rowBytes);
    return row.toString('latin1', order.lengthBytes, order.lengthBytes + row.readInt32LE());
  };
  const look = () => {
    const nowMs = performance.now();
    const passedMs = nowMs - seenMs;
    seenMs = nowMs;
    // If the machine was suspended or this thread got no CPU time, the loop got none either.
    const countedMs = passedMs < 2 * lookMs ? passedMs : 0;
    // Many small pieces of work may share a turn. A loop that begins work makes progress, however long its turns are.
    stuckMs = read(at.turns) === turns && read(at.entries) === entries ? stuckMs + countedMs : 0;
    stoppingMs += read(at.stopping) * passedMs;
    [turns, entries] = [read(at.turns), read(at.entries)];
    if (stuckMs >= order.hangMs) {
      clearInterval(looking);
      return hung(stuckMs, workName());
    }
    if (stoppingMs >= order.stopMs) overdue();
  };
  const looking = setInterval(look, lookMs);
}

/** The script of the thread. Its `workerData` is a `WatchOrder`. */
export const watchScript = `(${watch})((${ending})())`;
