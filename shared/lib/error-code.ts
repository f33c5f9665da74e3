/** The code of an error of the operating system or of a connection, such as ENOENT; without one its message. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause === undefined ? error.message : codeOf(error.cause);
}

/** To catch what an operation on a file that is not there throws. @throws every other error */
export function absent(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error;
  return undefined;
}
