/**
 * Writes that wait at the same time share a transaction, and so one wait for the disk. Each has its savepoint, and none
 * is answered before the commit: until then no reader sees it, and a crash takes all of them.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { WriteOutcome } from '../store.ts';
import { isFileProblem, isIoError } from './file.ts';

/** A transaction blocks the event loop, for about a tenth of a millisecond a write beside the wait for the disk. */
export const groupWritesMax = 128;

export type GroupedWrite = {
  /** Executes the write in the transaction. What it throws undoes this write only, unless it is about the file. */
  readonly run: () => WriteOutcome;
  /** Called in the turn of the commit, for what `run` has done. */
  readonly onDurable: () => void;
  /** Called where nothing of what `run` has done is stored, or may be stored: `inDoubt`. */
  readonly onLost: (how: 'undone' | 'inDoubt') => void;
};

type Waiting = {
  readonly write: GroupedWrite;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
};

type Done = Waiting & { readonly outcome: WriteOutcome };

type NextTurn = (callback: () => void) => void;

export class WriteGroups {
  readonly #database: DatabaseSync;
  readonly #nextTurn: NextTurn;
  readonly #savepoint: Record<'begin' | 'undo' | 'end', StatementSync>;
  #waiting: Waiting[] = [];
  #isScheduled = false;

  /** `nextTurn`: calls back after the events of this turn, so that their writes are in one group. */
  constructor(database: DatabaseSync, nextTurn: NextTurn) {
    this.#database = database;
    this.#nextTurn = nextTurn;
    this.#savepoint = {
      begin: database.prepare('SAVEPOINT one'),
      undo: database.prepare('ROLLBACK TO one'),
      end: database.prepare('RELEASE one'),
    };
  }

  /** Rejects with what `run` throws, or with what SQLite says of the file; then nothing is stored. */
  add(write: GroupedWrite): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /** Commits what waits. */
  flush(): void {
    while (this.#waiting.length > 0) this.#commitSome();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#nextTurn(() => {
      this.#isScheduled = false;
      this.#commitSome();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #commitSome(): void {
    const group = this.#waiting.splice(0, groupWritesMax);
    if (group.length > 0) this.#commitGroup(group);
  }

  #commitGroup(group: readonly Waiting[]): void {
    const database = this.#database;
    const done: Done[] = [];
    try {
      // Completes a rollback that failed earlier; otherwise every later write would fail as well.
      if (database.isTransaction) database.exec('ROLLBACK');
      database.exec('BEGIN IMMEDIATE');
      for (const one of group) {
        const outcome = this.#executed(one);
        if (outcome) done.push({ ...one, outcome });
      }
    } catch (error) {
      rollBack(database);
      for (const { write } of done) write.onLost('undone');
      for (const { reject } of group) reject(error);
      return;
    }
    this.#endGroup(done);
  }

  /** undefined: it was rejected. Throws if the file fails, and so the whole group. */
  #executed({ write, reject }: Waiting): WriteOutcome | undefined {
    this.#savepoint.begin.run();
    try {
      return write.run();
    } catch (error) {
      if (isFileProblem(error)) throw error;
      this.#savepoint.undo.run();
      reject(error);
      return undefined;
    } finally {
      if (this.#database.isTransaction) this.#savepoint.end.run();
    }
  }

  #endGroup(done: readonly Done[]): void {
    try {
      this.#database.exec('COMMIT');
    } catch (error) {
      rollBack(this.#database);
      const isInDoubt = isIoError(error);
      for (const { write, resolve, reject } of done) {
        write.onLost(isInDoubt ? 'inDoubt' : 'undone');
        if (isInDoubt) resolve({ kind: 'inDoubt' });
        else reject(error);
      }
      return;
    }
    for (const { write, resolve, outcome } of done) {
      write.onDurable();
      resolve(outcome);
    }
  }
}

/** Ignores a failed rollback, so that the caller gets the error that caused it. */
function rollBack(database: DatabaseSync): void {
  try {
    if (database.isTransaction) database.exec('ROLLBACK');
  } catch {}
}
