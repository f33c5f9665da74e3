/** An emulator of AWS whose function logs can be read during an invocation, as CloudWatch's can. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMinistack } from '../../support/ministack.ts';
import { billed } from './billing.ts';
import { type Guard, guardFunctions } from './rights.ts';

export type LogLine = Readonly<Record<string, unknown>>;

export type Emulator = {
  readonly endpoint: string;
  /** Between the functions and the services that they call. */
  readonly guard: Pick<Guard, 'enforce' | 'refused'>;
  /** What the function whose name has this in it has logged so far, line by line. */
  log(part: string): readonly LogLine[];
  /** The process that last began to run this function, but for one of a published version. */
  pid(part: string): number;
  stop(): Promise<void>;
};

/**
 * Takes the place of `node` for the emulator: notes which process runs which function, copies its logs, and sends its
 * calls to the proxy that knows its role.
 */
const watchedNode = (folder: string, endpoint: string): string => `#!/bin/bash
export AWS_ENDPOINT_URL='${endpoint}' AWS_ACCESS_KEY_ID="$AWS_LAMBDA_FUNCTION_NAME"
name="${folder}/\${AWS_LAMBDA_FUNCTION_NAME:-none}"
if [ "$AWS_LAMBDA_FUNCTION_VERSION" = '$LATEST' ]; then echo $$ >>"$name.pid"; fi
exec '${process.execPath}' "$@" 2> >(exec tee -a "$name.log" >&2)
`;

export async function startEmulator(): Promise<Emulator> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-emulator-'));
  const ministack = await startMinistack({ programs: folder });
  const guard = await guardFunctions(ministack, billed);
  writeFileSync(join(folder, 'node'), watchedNode(folder, guard.endpoint), { mode: 0o755 });
  const textOf = (part: string, extension: string): string => {
    const name = readdirSync(folder).find((file) => file.includes(part) && file.endsWith(extension));
    return name === undefined ? '' : readFileSync(join(folder, name), 'utf8');
  };
  return {
    endpoint: ministack.endpoint,
    guard,
    log: (part) => textOf(part, '.log').split('\n').slice(0, -1).map(lineOf),
    pid(part) {
      const pid = Number(textOf(part, '.pid').trimEnd().split('\n').at(-1));
      if (!(pid > 0) || !existsSync(folder)) throw new Error(`no process has run ${part}`);
      return pid;
    },
    async stop() {
      await ministack.stop();
      await guard.close();
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
