/** What a command reads and writes besides the API: handed in, so that a test sees what a terminal would. */
export type Io = {
  /** Writes to the standard output stream, as it is. */
  readonly out: (text: string) => void;
  /** Writes a line to the standard error stream. */
  readonly err: (line: string) => void;
  readonly env: { readonly [name: string]: string | undefined };
  /** Whether the standard output stream is a terminal. */
  readonly isTerminal: boolean;
};

/** The streams and the environment of this process. */
export const processIo = (): Io => ({
  out: (text) => void process.stdout.write(text),
  err: (line) => void process.stderr.write(`${line}\n`),
  env: process.env,
  isTerminal: process.stdout.isTTY === true,
});
