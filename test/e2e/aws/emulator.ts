/** An emulator of AWS whose functions can be watched while they run: it shows their logs only when an invocation is over, CloudWatch at once. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMinistack } from '../../support/ministack.ts';
import { billedTable } from './billing.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export type Emulator = {
  readonly endpoint: string;
  /** What the function whose name has this in it has logged so far, line by line. */
  log(part: string): readonly LogLine[];
  /** The process that last began to run this function. */
  pid(part: string): number;
  stop(): Promise<void>;
};

/**
 * Stands where the emulator looks for `node`: notes which process runs which function, copies what that logs, and says where its table is.
 */
const watchedNode = (folder: string, table: string): string => `#!/bin/bash
export AWS_ENDPOINT_URL_DYNAMODB='${table}'
name="${folder}/\${AWS_LAMBDA_FUNCTION_NAME:-none}"
echo $$ >>"$name.pid"
exec '${process.execPath}' "$@" 2> >(exec tee -a "$name.log" >&2)
`;

export async function startEmulator(): Promise<Emulator> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-emulator-'));
  const ministack = await startMinistack({ programs: folder });
  const table = await billedTable(ministack);
  writeFileSync(join(folder, 'node'), watchedNode(folder, table.endpoint), { mode: 0o755 });
  const textOf = (part: string, extension: string): string => {
    const name = readdirSync(folder).find((file) => file.includes(part) && file.endsWith(extension));
    return name === undefined ? '' : readFileSync(join(folder, name), 'utf8');
  };
  return {
    endpoint: ministack.endpoint,
    log: (part) => textOf(part, '.log').split('\n').slice(0, -1).map(lineOf),
    pid(part) {
      const pid = Number(textOf(part, '.pid').trimEnd().split('\n').at(-1));
      if (!(pid > 0) || !existsSync(folder)) throw new Error(`no process has run ${part}`);
      return pid;
    },
    async stop() {
      await ministack.stop();
      await table.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What is no JSON is Node's or the emulator's own. */
function lineOf(text: string): LogLine {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}
