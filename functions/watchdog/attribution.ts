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
  let current: Work | undefined;
  let isLeaving = false;

  const leave = () => {
    current = undefined;
    cells[cell.row] = 0;
  };
  const leaveLast = () => {
    isLeaving = false;
    leave();
  };
  /** Node runs `nextTick` callbacks once no promise callbacks are pending. */
  const leaveAfterPromises = () => process.nextTick(leaveLast);
  const unnamed: Work = { resumes: leave, end: () => undefined };

  const enter = (work: Work, row: number) => {
    current = work;
    cells[cell.row] = row;
    cells[cell.entries] = (cells[cell.entries] ?? 0) + 1;
    if (isLeaving) return;
    isLeaving = true;
    void settled.then(leaveAfterPromises);
  };

  return {
    start(name) {
      const row = free.pop();
      if (row === undefined) {
        // More work than can be in flight stays unnamed.
        leave();
        return unnamed;
      }
      names.writeInt32LE(names.write(name, row * rowBytes + lengthBytes, workNameBytesMax, 'latin1'), row * rowBytes);
      let isOpen = true;
      const work: Work = {
        resumes() {
          if (isOpen) enter(work, row);
        },
        end() {
          if (!isOpen) return;
          isOpen = false;
          free.push(row);
          if (current === work) leave();
        },
      };
      enter(work, row);
      return work;
    },
    bind(callback) {
      const work = current;
      if (!work) return callback;
      return () => {
        work.resumes();
        callback();
      };
    },
  };
}

const settled = Promise.resolve();
