/**
 * `npm run record -- --kubernetes v1.36.3`: records the vectors again from that version of Kubernetes and compares them
 * with the stored ones. The work is Go's; this builds a temporary copy of the module for the version and runs it.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `usage: npm run record -- [--kubernetes v1.MINOR.PATCH] [--vectors FOLDER] [--only FAMILY] [--write FOLDER]`;
/** 0: all the same, 1: something differs. */
const wrongUse = 2;

const module = import.meta.dirname;
const kubernetes = 'k8s.io/kubernetes';
const linkedVersion = 'k8s.io/component-base/version';
const notBuilt = {
  hint: 'If it does not compile, the exported API has changed: see "The next Kubernetes minor" in docs/maintaining.md.',
  code: 1,
};
/** The first minor that has a build tag: what is exported changed in it. */
const firstTaggedMinor = 37;

type Version = { readonly text: string; readonly minor: number; readonly staging: string };

/** Staging modules are v0 of the same minor and patch. */
function parseVersion(text: string): Version {
  const match = /^v1\.(\d+)\.\d+(-[a-z0-9.]+)?$/.exec(text);
  if (!match) stop(`${text} is no version of Kubernetes 1.x\n${usage}`);
  return { text, minor: Number(match[1]), staging: text.replace(/^v1/, 'v0') };
}

function stop(message: string, code = wrongUse): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

/** Runs Go in `folder` and returns what it printed. Ends the process when Go is missing or fails. */
function go(folder: string, args: readonly string[], whenItFails = { hint: '', code: wrongUse }): string {
  const { error, status, stdout } = spawnSync('go', args, {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // A workspace around the checkout would take the copy for one of its modules.
    env: { ...process.env, GOWORK: 'off' },
  });
  if (error) {
    const isMissing = 'code' in error && error.code === 'ENOENT';
    stop(isMissing ? 'no go found; the recorder needs the Go of its go.mod, see https://go.dev/dl' : error.message);
  }
  if (status !== 0) stop(`go ${args[0]} ${args[1]} failed\n${whenItFails.hint || stdout}`, whenItFails.code);
  return stdout;
}

type GoMod = {
  readonly Require?: readonly { readonly Path: string; readonly Version: string }[];
  readonly Replace?: readonly { readonly Old: { readonly Path: string }; readonly New: { readonly Path: string } }[];
};

const readMod = (folder: string, file = 'go.mod'): GoMod => JSON.parse(go(folder, ['mod', 'edit', '-json', file]));

/** The version that the vectors are recorded from. */
function recordedVersion(): Version {
  const required = readMod(module).Require?.find(({ Path }) => Path === kubernetes);
  return parseVersion(required?.Version ?? '');
}

/** Kubernetes replaces its staging modules by folders, which only its own build has. */
function useVersion(folder: string, { text, staging }: Version): void {
  const downloaded = JSON.parse(go(folder, ['mod', 'download', '-json', `${kubernetes}@${text}`]));
  const wanted = (readMod(folder, downloaded.GoMod).Replace ?? []).filter(({ New }) =>
    New.Path.startsWith('./staging/'),
  );
  const dropped = (readMod(folder).Replace ?? []).map(({ Old }) => `-dropreplace=${Old.Path}`);
  go(folder, ['mod', 'edit', `-require=${kubernetes}@${text}`, ...dropped]);
  go(folder, ['mod', 'edit', ...wanted.map(({ Old: { Path } }) => `-replace=${Path}=${Path}@${staging}`)]);
}

function build(folder: string, version: Version, recorded: Version): string {
  const binary = join(folder, 'recorder.test');
  const tags = Array.from(
    { length: Math.max(0, version.minor - firstTaggedMinor + 1) },
    (_, index) => `kubernetes1.${firstTaggedMinor + index}`,
  );
  // Releases link their version, which probes name. The vectors name the one that they were recorded from.
  const linked = `-X ${linkedVersion}.gitMajor=1 -X ${linkedVersion}.gitMinor=${recorded.minor}`;
  const mod = version.text === recorded.text ? 'readonly' : 'mod';
  process.stderr.write(`building against Kubernetes ${version.text}; the first time takes minutes\n`);
  go(folder, ['test', '-c', `-mod=${mod}`, `-tags=${tags}`, '-ldflags', linked, '-o', binary, '.'], notBuilt);
  return binary;
}

function record(folder: string, version: Version, recorded: Version): number {
  cpSync(module, folder, { recursive: true });
  if (version.text !== recorded.text) useVersion(folder, version);
  const binary = build(folder, version, recorded);
  const peers = `-peers=${process.execPath} ${join(module, 'peers.ts')}`;
  const flags = [`-vectors=${vectors}`, `-only=${values.only}`, `-write=${values.write}`, peers];
  process.stdout.write(`Kubernetes ${version.text}, ${vectors}\n`);
  const { status } = spawnSync(binary, ['-test.timeout=0', ...flags], { cwd: folder, stdio: 'inherit' });
  if (values.write) for (const file of ['go.mod', 'go.sum']) cpSync(join(folder, file), join(values.write, file));
  return status === 0 ? 0 : 1;
}

function parse() {
  try {
    return parseArgs({
      options: {
        kubernetes: { type: 'string' },
        vectors: { type: 'string', default: join(module, '../vectors') },
        only: { type: 'string', default: '' },
        write: { type: 'string', default: '' },
      },
    }).values;
  } catch (error) {
    return stop(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

const parsed = parse();
const values = { ...parsed, write: parsed.write && resolve(parsed.write) };
const vectors = resolve(values.vectors);
const isVectors = (file: string) => file.startsWith(values.only) && /\.jsonl(\.gz)?$/.test(file);
if (!existsSync(vectors) || !readdirSync(vectors).some(isVectors))
  stop(`no vectors${values.only && ` of ${values.only}`} in ${vectors}\n${usage}`);
const asked = values.kubernetes === undefined ? undefined : parseVersion(values.kubernetes);
if (values.write) mkdirSync(values.write, { recursive: true });
const copy = mkdtempSync(join(tmpdir(), 'recorder-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
const recorded = recordedVersion();
process.exitCode = record(copy, asked ?? recorded, recorded);
