/** How a command ends: what scripts can tell apart. */
export const exitCodes = {
  ok: 0,
  /** Something was wrong or could not be done, and a line on the standard error stream says what. */
  failed: 1,
  wrongUse: 2,
  notInTime: 3,
  notFound: 4,
  /** For `diff`, whose exit code 1 means that something differs. */
  notCompared: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Ends a command with a line on the standard error stream, which says what to do next, and with an exit code. */
export class CliError extends Error {
  readonly exitCode: ExitCode;

  /** Further errors, of a line each. */
  readonly more: readonly string[];

  constructor(message: string, exitCode: ExitCode = exitCodes.failed, more: readonly string[] = []) {
    super(message);
    this.exitCode = exitCode;
    this.more = more;
  }
}

/** The program was used wrongly: the line also names `--help`. */
export class WrongUse extends CliError {
  constructor(message: string) {
    super(message, exitCodes.wrongUse);
  }
}
