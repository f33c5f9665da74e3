/** The abilities of this machine that a prober needs: sockets, name resolution, and a way to the canaries. */
import { descriptorsMax } from '../../../shared/core/self/sockets.ts';
import type { Canary } from '../../../shared/holder/run.ts';
import { type Clock, systemClock } from '../../../shared/lib/clock.ts';
import { guardedDialer } from '../../../shared/net/dialer.ts';
import { dns } from '../../../shared/net/dns.ts';
import { isDomainName } from '../../../shared/net/domain-name.ts';
import { resolver } from '../../../shared/net/resolver.ts';
import { aloneNeeds, descriptorShares } from '../../local/process/descriptors.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** From here on a process has all that it uses (docs/operating.md). */
const descriptorsEnough = 4_096;
/** Waits longer than the prober's own canaries do. */
const canaryMsMax = 2_000;
/** A name that never exists (RFC 6761): that it does not is an answer, too. */
const absentName = 'probelet-doctor.invalid';

/** @param limit RLIMIT_NOFILE */
export function descriptorsFinding(limit: number): Finding {
  const { probesMax, connectionsMax } = descriptorShares(limit, aloneNeeds);
  const why = `${limit}: ${probesMax} probes at once, ${connectionsMax} connections to the API`;
  if (probesMax >= descriptorsMax) return ok(why);
  return warn(
    why,
    `raise the limit by ulimit -n ${descriptorsEnough}, or LimitNOFILE=${descriptorsEnough} of a service`,
  );
}

/**
 * Asks each server on its own.
 * @param servers `address` or `address:port`
 * @param name the name to look up, if it is a domain name
 */
export async function dnsFinding(
  servers: readonly string[],
  name: string | undefined,
  clock: Clock = systemClock,
): Promise<Finding> {
  const wanted = name !== undefined && isDomainName(name) && name !== 'localhost' ? name : absentName;
  const answers = await Promise.all(servers.map((server) => dns({ clock, servers: [server] })(wanted)));
  const silent = servers.flatMap((server, at) => {
    const resolution = answers[at]?.resolution;
    return resolution?.kind === 'unavailable' ? [`${server} (${resolution.message})`] : [];
  });
  if (silent.length === 0) return ok(`${servers.join(', ')} answered`);
  const why = `no answer about ${wanted} from ${silent.join(', ')}`;
  if (silent.length < servers.length) return warn(why, 'remove it from /etc/resolv.conf, or mend the network to it');
  return fail(`${why}: no probe by name is possible`, 'correct /etc/resolv.conf, or mend the network to its servers');
}

/** `isNamed`: by the operator; otherwise they are the machine's DNS servers. */
export type Canaries = { readonly list: readonly Canary[]; readonly isNamed: boolean };

export async function canariesFinding({ list, isNamed }: Canaries, clock: Clock = systemClock): Promise<Finding> {
  const dial = guardedDialer({ clock, resolve: resolver({ clock }), policy: () => true });
  const answersDial = async ({ host, port }: Canary): Promise<boolean> => {
    const dialed = await dial({ host, port, deadlineMs: clock.monotonicMs() + canaryMsMax, bypassesPolicy: true });
    if (dialed.kind === 'connected') dialed.socket.destroy();
    return dialed.kind === 'connected';
  };
  const answers = await Promise.all(list.map(answersDial));
  const named = (each: readonly Canary[]) => each.map(({ host, port }) => `${host}:${port}`).join(', ');
  const there = list.filter((_, at) => answers[at]);
  const silent = list.filter((_, at) => !answers[at]);
  if (isNamed && there.length === 0)
    return fail(`${named(list)} refused or did not answer: no failure would count`, 'name one that always answers');
  if (there.length === 0)
    return warn(
      'no DNS server answers over TCP: if the network of this machine fails, its targets appear to fail',
      'name an endpoint that always answers by --canary HOST:PORT',
    );
  if (isNamed && silent.length > 0)
    return warn(`${named(silent)} refused or did not answer`, 'name others by --canary');
  return ok(`${named(there)} answered`);
}
