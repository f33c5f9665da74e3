/**
 * Attribution in memory that the watchdog reads. Each piece of work has a row for its name; which row the loop works for is one integer.
 *
 * Not AsyncLocalStorage, which knows it of every promise by itself: no other thread can ask it, and it costs up to 7 % of a probe. This costs
 * about 1 %.
 */
import { type Attribution, type Work, workNameBytesMax } from '../../shared/lib/attribution.ts';
import { cell, lengthBytes, rowBytes, rowsMax, type SharedCells } from './cells.ts';

export function sharedAttribution({ cells, names }: SharedCells): Attribution {
  /** Row 0 is the loop's own. */
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
  /** Node runs what `nextTick` was given once no promise has anything left to do. */
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
        // Beyond what can be in flight: it goes unnamed.
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
