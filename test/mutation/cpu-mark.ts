/** How a child reports, with its last line of errors, what CPU time it has used. */
export const cpuMark = 'CPU seconds: ';

export function reportCpuAtExit(): void {
  process.on('exit', () => process.stderr.write(`${cpuMark}${process.cpuUsage().user / 1_000_000}\n`));
}
