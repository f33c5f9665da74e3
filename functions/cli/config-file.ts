/** The contexts of a user, in `probelet/config.yaml` below XDG_CONFIG_HOME or `~/.config`. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { issueDetail } from '../../shared/lib/issue-detail.ts';
import { authKinds } from './aws-access.ts';
import { CliError } from './exit-codes.ts';
import type { Io } from './io.ts';

const contextSchema = z.strictObject({
  name: z.string(),
  server: z.string(),
  'token-file': z.string().optional(),
  namespace: z.string().optional(),
  auth: z.enum(authKinds).optional(),
  /** Of an API on AWS. */
  region: z.string().optional(),
  profile: z.string().optional(),
});
const configSchema = z.strictObject({ 'current-context': z.string().optional(), contexts: z.array(contextSchema) });

export type Context = Readonly<z.infer<typeof contextSchema>>;
export type Config = { readonly 'current-context'?: string | undefined; readonly contexts: readonly Context[] };

export const contextsMax = 1_000;
const configBytesMax = 1024 * 1024;

export const configPath = ({ XDG_CONFIG_HOME = '', HOME = '' }: Io['env']): string =>
  join(
    XDG_CONFIG_HOME === '' ? join(HOME === '' ? homedir() : HOME, '.config') : XDG_CONFIG_HOME,
    'probelet/config.yaml',
  );

/** Empty if there is no such file. @throws CliError */
export function readConfig(env: Io['env']): Config {
  const path = configPath(env);
  const text = configText(path);
  if (text === undefined) return { contexts: [] };
  const value = parsedYaml(text, path) ?? { contexts: [] };
  const read = configSchema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new CliError(
    `${path}: ${issue?.path.join('.') ?? ''}: ${issue ? issueDetail(issue, value) : 'wrong'}; correct or remove the file`,
  );
}

function configText(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > configBytesMax) throw new CliError(`${path} has more than ${configBytesMax} bytes`);
    return bytes.toString('utf8');
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = error instanceof Error && 'code' in error ? error.code : error;
    if (code === 'ENOENT') return undefined;
    throw new CliError(`${path} cannot be read (${code}); correct its permissions`);
  }
}

function parsedYaml(text: string, path: string): unknown {
  try {
    return parse(text) as unknown;
  } catch {
    throw new CliError(`${path} is not YAML; correct or remove the file`);
  }
}

/** The file is replaced as a whole, so that no reader meets half a file, and only its user can read it. */
export function writeConfig(env: Io['env'], config: Config): void {
  const path = configPath(env);
  const draft = `${path}.${process.pid}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(draft, stringify(config, { lineWidth: 0 }), { mode: 0o600, flag: 'wx', flush: true });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new CliError(`${path} cannot be written (${code}); correct the permissions of its folder`);
  }
}
