/** The contexts of a user, in `probelet/config.yaml` below XDG_CONFIG_HOME or `~/.config`. */
import { mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import * as z from 'zod';
import { codeOf } from '../../../shared/lib/error-code.ts';
import { issueDetail } from '../../../shared/lib/issue-detail.ts';
import { ownerOnly } from '../../local/process/durable-file.ts';
import { replaceFile } from '../files/replaced-file.ts';
import type { Io } from '../io.ts';
import { CliError } from '../words/exit-codes.ts';
import { authKinds } from './aws-access.ts';

const contextSchema = z.strictObject({
  name: z.string(),
  server: z.string(),
  'token-file': z.string().optional(),
  namespace: z.string().optional(),
  auth: z.enum(authKinds).optional(),
  /** The region of an API on AWS. */
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

/** @throws CliError */
export function writeConfig(env: Io['env'], config: Config): void {
  const path = configPath(env);
  makeFolder(dirname(path));
  replaceFile(path, stringify(config, { lineWidth: 0 }), ownerOnly);
}

function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CliError(
      `${folder} cannot be made (${codeOf(error)}); correct the permissions of the folder that it is in`,
    );
  }
}
