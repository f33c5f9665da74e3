/**
 * Attribution in memory shared with the watchdog. Each piece of work has a row for its name, and one integer holds the
 * row of the running work.
 *
 * AsyncLocalStorage would track promises by itself, but no other thread can read it, and it takes up to 7 % of a
 * probe's CPU time. This takes about 1 %.
 */
import { type Attribution, type Work, workNameBytesMax } from '../../shared/lib/attribution.ts';
import { cell, lengthBytes, rowBytes, rowsMax, type SharedCells } from './cells.ts';

export function sharedAttribution({ cells, names }: SharedCells): Attribution {
  /** Row 0 stands for the event loop without attributed work. */
  const free = Array.from({ length: rowsMax - 1 }, (_, row) => row + 1);
  const running = new RunningWork(cells);
  const unnamed: Work = { resumes: () => running.leave(), end: () => undefined };

  return {
    start(name) {
      const row = free.pop();
      if (row === undefined) {
        // More work than can be in flight stays unnamed.
        running.leave();
        return unnamed;
      }
      names.writeInt32LE(names.write(name, row * rowBytes + lengthBytes, workNameBytesMax, 'latin1'), row * rowBytes);
      let isOpen = true;
      const work: Work = {
        resumes() {
          if (isOpen) running.enter(work, row);
        },
        end() {
          if (!isOpen) return;
          isOpen = false;
          free.push(row);
          if (running.current === work) running.leave();
        },
      };
      running.enter(work, row);
      return work;
    },
    bind(callback) {
      const work = running.current;
      if (!work) return callback;
      return () => {
        work.resumes();
        callback();
      };
    },
  };
}

/** The work that the event loop runs now. */
class RunningWork {
  readonly #cells: Int32Array;
  #current: Work | undefined;
  #isLeaving = false;

  constructor(cells: Int32Array) {
    this.#cells = cells;
  }

  get current(): Work | undefined {
    return this.#current;
  }

  /** Runs the work until the current callback and the promises that it settles are done. */
  enter(work: Work, row: number): void {
    this.#current = work;
    this.#cells[cell.row] = row;
    this.#cells[cell.entries] = (this.#cells[cell.entries] ?? 0) + 1;
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    void settled.then(this.#leaveAfterPromises);
  }

  leave(): void {
    this.#current = undefined;
    this.#cells[cell.row] = 0;
  }

  /** Node runs `nextTick` callbacks once no promise callbacks are pending. */
  readonly #leaveAfterPromises = (): void => process.nextTick(this.#leaveLast);

  readonly #leaveLast = (): void => {
    this.#isLeaving = false;
    this.leave();
  };
}

const settled = Promise.resolve();
