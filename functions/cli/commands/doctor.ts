/** `probelet doctor`: whether this machine, the server and the way between them are in order. Changes nothing. */
import { readFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { parsedResolvConf, resolvConfPath } from '../../../shared/dns/resolv-conf.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { startOption } from '../../local/options/start-command.ts';
import { dnsServers } from '../../local/process/canaries.ts';
import { descriptorLimit } from '../../local/process/descriptors.ts';
import { dataFolderFinding } from '../diagnosis/data-folder.ts';
import { bounded, type Check, type Finding, type FindingState } from '../diagnosis/finding.ts';
import { canariesFinding, descriptorsFinding, dnsFinding } from '../diagnosis/machine.ts';
import { type ServerFindings, serverFindings, unconfigured } from '../diagnosis/server.ts';
import type { CommandSetting, Io } from '../io.ts';
import { documentText } from '../printing/documents.ts';
import type { Printable } from '../printing/printable.ts';
import { type Cell, isColouredFor, rowsText } from '../printing/tables.ts';
import { apiCommand, connectionOf, flagsOf, withSession } from '../server/connection.ts';
import { exitCodes } from '../words/exit-codes.ts';

type Options = {
  readonly dataDir: string;
  readonly canary?: readonly Canary[];
  readonly output?: 'json';
};

/** The time-out of each check. */
const checkMsMax = 8_000;
/** The time-out of a request, which is made at most three times. */
const requestMsMax = 2_000;

const examples = `
Examples:
  probelet doctor
  probelet doctor --data-dir /var/lib/probelet --canary 10.0.0.1:443
  probelet doctor --context prod -o json`;

export const doctorCommand = ({ io, endWith }: CommandSetting): Command =>
  apiCommand('doctor')
    .description(
      'whether this machine and the server are in order, a line for each check; exit code 1: something is not',
    )
    .addOption(startOption('dataDir'))
    .addOption(startOption('canary'))
    .addOption(new Option('-o, --output <format>', 'format').choices(['json']))
    .addHelpText('after', examples)
    .action(async (_options: object, command: Command) => {
      const options = command.opts<Options>();
      const checks = checksOf(command, options, io).map((check) => bounded(check, checkMsMax));
      const found: (readonly [string, Finding])[] = [];
      for (const check of checks) {
        const lines = await check;
        found.push(...lines);
        if (options.output === undefined) for (const line of lines) io.out(lineOf(line, io));
      }
      if (options.output === 'json')
        io.out(documentText({ checks: found.map(([name, finding]) => ({ name, ...finding })) }, 'json'));
      if (found.some(([, { state }]) => state === 'fail')) endWith(exitCodes.failed);
    });

/** They run side by side. */
function checksOf(command: Command, { dataDir, canary = [] }: Options, io: Io): readonly Check[] {
  const one = (name: string, finding: () => Promise<Finding>): Check => ({
    names: [name],
    findings: async () => ({ [name]: await finding() }),
  });
  return [
    { names: ['server', 'credentials', 'clock', 'versions', 'release'], findings: () => ofServer(command, io) },
    one('data folder', () => dataFolderFinding(dataDir)),
    one('descriptors', async () => descriptorsFinding(descriptorLimit())),
    one('DNS', async () => dnsFinding(await configuredServers(), hostOf(command, io))),
    one('canaries', () =>
      canariesFinding(canary.length > 0 ? { list: canary, isNamed: true } : { list: dnsServers(), isNamed: false }),
    ),
  ];
}

/** A configuration that is wrong is what is found. */
async function ofServer(command: Command, io: Io): Promise<ServerFindings> {
  const found: ServerFindings[] = [];
  try {
    const connection = { ...connectionOf(flagsOf(command), io.env), timeoutMs: requestMsMax };
    await withSession(connection, { io }, async (session) => {
      found.push(await serverFindings(session, io.clock));
    });
  } catch (error) {
    found.push(unconfigured(error));
  }
  const [first = unconfigured(new Error('no server is known'))] = found;
  return first;
}

/** The name of the server, which is asked for first. */
function hostOf(command: Command, io: Io): string | undefined {
  try {
    return connectionOf(flagsOf(command), io.env).server.url.hostname;
  } catch {
    return undefined;
  }
}

async function configuredServers(): Promise<readonly string[]> {
  const text = await readFile(resolvConfPath, 'utf8').catch(() => '');
  return parsedResolvConf(text).servers.map(({ address, port }) =>
    address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
  );
}

const shades: { readonly [state in FindingState]: 'good' | 'doubt' | 'bad' } = {
  ok: 'good',
  warn: 'doubt',
  fail: 'bad',
};
/** Widths of the longest state and the longest name. */
const widths: readonly number[] = [4, 'credentials'.length, 0];

function lineOf([name, { state, why, next }]: readonly [string, Finding], io: Io): Printable {
  const row: readonly Cell[] = [
    { text: state, shade: shades[state] },
    name,
    next === undefined ? why : `${why} → ${next}`,
  ];
  return rowsText([row], { isColoured: isColouredFor(io), widths });
}
