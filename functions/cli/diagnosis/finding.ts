/** What `probelet doctor` finds: one line for each thing that it looks at. */
import { CliError } from '../words/exit-codes.ts';

export type FindingState = 'ok' | 'warn' | 'fail';

export type Finding = {
  readonly state: FindingState;
  /** What was found. */
  readonly why: string;
  /** What to do about it. */
  readonly next?: string;
};

/** `names`: of the findings, in their order. */
export type Check<Name extends string = string> = {
  readonly names: readonly Name[];
  readonly findings: () => Promise<{ readonly [name in Name]: Finding }>;
};

export const ok = (why: string): Finding => ({ state: 'ok', why });
export const warn = (why: string, next: string): Finding => ({ state: 'warn', why, next });
export const fail = (why: string, next: string): Finding => ({ state: 'fail', why, next });

/** Errors of commands end with what to do, behind their last colon or semicolon. */
export function failedFinding(error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  const at = Math.max(message.lastIndexOf(': '), message.lastIndexOf('; '));
  if (at < 0) return fail(message, error instanceof CliError ? 'correct it' : 'see probelet doctor --help');
  return fail(message.slice(0, at), message.slice(at + ': '.length));
}

/** What a check finds, or that it did not end in time. */
export async function bounded<Name extends string>(
  { names, findings }: Check<Name>,
  limitMs: number,
): Promise<readonly (readonly [Name, Finding])[]> {
  const late = new Promise<undefined>((resolve) => {
    // Does not keep a process alive that has nothing else to do.
    AbortSignal.timeout(limitMs).addEventListener('abort', () => resolve(undefined));
  });
  const all = (finding: Finding) => names.map((name) => [name, finding] as const);
  try {
    const found = await Promise.race([findings(), late]);
    if (found) return names.map((name) => [name, found[name]] as const);
    return all(fail(`did not end within ${limitMs / 1_000} s`, 'look at the disk and the network of this machine'));
  } catch (error) {
    return all(failedFinding(error));
  }
}
