/** What the server of the command line says, and what that says about credentials, clock and versions. */
import type { ProberView } from '../../../shared/api/routes/prober.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { regionOfHost } from '../../client/aws-region.ts';
import { ClientError } from '../../client/client-error.ts';
import { isLoopback } from '../../client/connections.ts';
import { shownUrl } from '../../client/requests.ts';
import { productVersion } from '../../product-version.ts';
import type { Session } from '../server/connection.ts';
import { type Finding, fail, failedFinding, ok, warn } from './finding.ts';

export type ServerFindings = {
  readonly server: Finding;
  readonly credentials: Finding;
  readonly clock: Finding;
  readonly versions: Finding;
  readonly release: Finding;
};

/** The version of the API that this program knows. */
const apiVersion = '1';
/** Clocks of processes that share a table may differ by 2 s; a `Date` counts whole seconds. */
const skewMsWarn = 3_500;
/** Beyond it, processes of tick mode disagree; AWS refuses signatures beyond 5 min. */
const skewMsMax = 120_000;

const client = `probelet ${productVersion}, Node ${process.versions.node}`;

/** Never throws. */
export async function serverFindings(session: Session, clock: Clock): Promise<ServerFindings> {
  const sentMs = clock.nowMs();
  const health = await answerOf(() => session.client.health());
  const middleMs = (sentMs + clock.nowMs()) / 2;
  if ('error' in health) return unreached(health.error);
  const { status, answeredAtMs } = health.value;
  const version = await answerOf(() => session.client.version());
  const prober = await answerOf(() => session.client.prober());
  return {
    server: status === 'ok' ? ok(shownServer(session)) : degraded(session, status),
    credentials: 'error' in version ? failedFinding(version.error) : ok(credentialsText(session)),
    clock: clockFinding(answeredAtMs, middleMs, isHere(session)),
    versions: 'error' in version ? ok(client) : versionsFinding(version.value.api),
    release: 'error' in prober ? unknownRelease : releaseFinding(prober.value),
  };
}

async function answerOf<Value>(
  ask: () => Promise<Value>,
): Promise<{ readonly value: Value } | { readonly error: ClientError }> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof ClientError) return { error };
    throw error;
  }
}

function unreached(error: ClientError): ServerFindings {
  const unknown = warn('not known, because the server does not answer', 'mend the server line first');
  return { server: failedFinding(error), credentials: unknown, clock: unknown, versions: ok(client), release: unknown };
}

/** Without a server, because the configuration of the command line is wrong. */
export const unconfigured = (error: unknown): ServerFindings => {
  const unknown = warn('not known, because no server is known', 'mend the server line first');
  return { server: failedFinding(error), credentials: unknown, clock: unknown, versions: ok(client), release: unknown };
};

const shownServer = ({ server: { url, socketPath } }: Session): string =>
  `${socketPath === undefined ? shownUrl(url) : `unix:${socketPath}`} is healthy`;

const degraded = ({ server }: Session, status: string): Finding =>
  warn(`${shownUrl(server.url)} says ${status}`, 'read /healthz and its log');

function credentialsText({ token, aws, server }: Session): string {
  if (token !== undefined) return 'the token is accepted';
  if (!aws) return 'the server needs none';
  const region = aws.region ?? regionOfHost(server.url) ?? 'the configured region';
  return `the AWS credentials are accepted (${region}${aws.profile === undefined ? '' : `, profile ${aws.profile}`})`;
}

/** A server of this machine has its clock. */
const isHere = ({ server: { url, socketPath } }: Session): boolean => socketPath !== undefined || isLoopback(url);

/**
 * @param answeredAtMs the server's time, cut to a second; half of one is added
 * @param middleMs this machine's time in the middle of the request
 * @param isSame whether the server is on this machine
 */
export function clockFinding(answeredAtMs: number, middleMs: number, isSame: boolean): Finding {
  if (Number.isNaN(answeredAtMs)) return warn('the server does not say its time', 'compare the clocks by hand');
  const skewMs = middleMs - (answeredAtMs + 500);
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  const why = `${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the server`;
  const next = 'synchronise this machine or the server, such as by systemd-timesyncd or chrony';
  if (Math.abs(skewMs) >= skewMsMax) return fail(why, next);
  if (Math.abs(skewMs) >= skewMsWarn) return warn(why, next);
  return ok(isSame ? 'that of the server, which is on this machine' : 'agrees with the server');
}

function versionsFinding(api: string): Finding {
  const why = `${client}, API ${api}`;
  return api === apiVersion ? ok(why) : warn(`${why}; this program knows API ${apiVersion}`, 'upgrade the older one');
}

const unknownRelease = warn('not known, because the server does not say', 'mend the lines above first');

/** Which release holds the shards, and whether the others follow the one that tries a new one. */
export function releaseFinding(prober: ProberView | undefined): Finding {
  if (prober === undefined) return ok('the server is older than this program, and does not say');
  const { release, shards } = prober;
  const held = shards.filter(({ mode }) => mode !== 'idle');
  const { desired, trial, refused } = release;
  if (refused !== undefined && desired === undefined)
    return fail(
      `release ${refused} was refused: no run of it has probed`,
      'read the log of its prober, and deploy again',
    );
  if (trial)
    return warn(`release ${desired} is tried by shard ${trial.shard} since ${trial.since}`, 'ask again in two minutes');
  const count = `${held.length} ${held.length === 1 ? 'shard' : 'shards'}`;
  if (desired === undefined) return ok(count);
  const others = held.filter((shard) => shard.release !== desired);
  if (others.length === 0) return ok(`${count} by release ${desired}`);
  return warn(`${others.length} of ${count} have not moved to release ${desired}`, 'ask again in a minute');
}
