/**
 * `npm start` notifies a fake service of every format while targets fail, stay down, are silenced and recover, and some
 * receivers hang, fail, limit or never answer.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { formats } from '../../alerts/published-schemas.ts';
import { startProduct } from '../../local/product.ts';
import type { Tally } from '../../support/tally.ts';
import { until } from '../../support/wait.ts';
import { type Arrival, key, type Misbehaviour, secretBytes, startServices } from './services.ts';
import { decidedTargets } from './targets.ts';

const silencedMs = 24_000;
const remindMs = 10_000;
const retryAfterMs = 3_000;
const patience = { withinMs: 90_000, pollMs: 100 };

const labels = { one: { app: 'shop' }, two: { app: 'shop' }, other: { app: 'db' }, silenced: { app: 'mail' } };
const names = Object.keys(labels);

/** Each of these misbehaves at its first request, except the one that never answers. */
const misbehaviours = (): { readonly [receiver: string]: Misbehaviour } => {
  const first = (act: Misbehaviour): Misbehaviour => {
    let isFirst = true;
    return (response, arrival) => {
      const acts = isFirst && act(response, arrival);
      isFirst = false;
      return acts;
    };
  };
  return {
    'webhook-hangs': first(() => true),
    'webhook-fails': first((response) => Boolean(response.writeHead(500).end())),
    'webhook-limits': first((response) =>
      Boolean(response.writeHead(429, { 'retry-after': `${retryAfterMs / 1_000}` }).end()),
    ),
    'webhook-never': () => true,
  };
};

export async function judgeFormats(verdict: Tally['verdict']): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'probelet-alerts-'));
  const services = await startServices(misbehaviours());
  const mails = await mailServer();
  const targets = await decidedTargets();
  const silencedUntilMs = Date.now() + silencedMs;
  const config = written(folder, { url: services.url, mailPort: mails.port, silencedUntilMs });
  writeFileSync(join(folder, 'targets.yaml'), targets.manifests(labels));
  const options = ['--port', '0', '--data-dir', join(folder, 'data'), '--config', config];
  const product = await startProduct([...options, '--allow-exec', join(folder, 'allowed')]);
  const at = (receiver: string, kind?: string) =>
    services.arrived.filter((each) => each.receiver === receiver && (kind === undefined || each.kind === kind));
  const reported = (receiver: string, kind: string) => new Set(at(receiver, kind).flatMap((each) => each.names));
  const learns = (receiver: string, kind: string, count: number) =>
    until(`${receiver} learns of ${kind}`, patience, () => reported(receiver, kind).size >= count);
  try {
    for (const name of names) targets.down.add(name);
    await learns('webhook', 'firing', names.length - 1);
    const early = reported('webhook', 'firing');
    await learns('webhook', 'reminder', names.length - 1);
    await learns('webhook', 'firing', names.length);
    targets.down.clear();
    const delivering = ['webhook', 'webhook-hangs', 'webhook-fails', 'webhook-limits'];
    for (const receiver of delivering) await learns(receiver, 'resolved', names.length);
    const others = [...formats.filter((format) => format !== 'webhook'), 'mail', 'exec'];
    const counts = () => ({ mail: mails.count(), exec: commandLines(folder).length });
    const countOf = (receiver: string) => ({ ...counts() })[receiver] ?? at(receiver).length;
    const all = at('webhook').length;
    await until('all receivers have all', patience, () => others.every((each) => countOf(each) >= all));
    const odd = others.filter((each) => countOf(each) !== all).map((each) => `${each} got ${countOf(each)} of ${all}`);

    verdict('every body is as the service publishes, signatures and keys included', services.faults);
    verdict(`each of ${others.length} other receivers got what the webhook got (${all} notifications), once`, odd);
    verdict('without a fault nothing is reported twice', repeatedIds(at('webhook')));
    verdict('problems of one group share a notification', sharedWrongly(at('webhook', 'firing')));
    verdict('what lasts is repeated', at('webhook', 'reminder').length > 0);
    const beginnings = at('webhook', 'firing').filter((each) => each.names.includes('silenced'));
    verdict('what is silenced is reported when the silence has ended, and not before', [
      ...(early.has('silenced') ? ['it was reported with the others'] : []),
      ...beginnings
        .filter(({ atMs }) => atMs < silencedUntilMs)
        .map(({ atMs }) => `reported at ${new Date(atMs).toISOString()}`),
    ]);
    verdict('each end is reported', reported('webhook', 'resolved').size === names.length);
    for (const receiver of delivering.slice(1))
      verdict(
        `${receiver} got everything, in order, and the first one again`,
        recoveredFaults(at(receiver), at('webhook')),
      );
    const [limited, again] = at('webhook-limits');
    verdict('Retry-After is respected', (again?.atMs ?? 0) - (limited?.atMs ?? 0) >= retryAfterMs);
    const never = at('webhook-never');
    verdict(
      'a receiver that never answers gets one notification again and again',
      new Set(never.map(({ id }) => id)).size === 1,
    );
    verdict('reminders came at their interval', intervalFaults(at('webhook')));
  } finally {
    await product.stop();
    await Promise.all([services.close(), mails.close(), targets.close()]);
    rmSync(folder, { recursive: true });
  }
}

type Written = { readonly url: string; readonly mailPort: number; readonly silencedUntilMs: number };

function written(folder: string, { url, mailPort, silencedUntilMs }: Written): string {
  const fileOf = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const secret = { file: fileOf('secret', `whsec_${secretBytes.toString('base64')}`) };
  const keyFile = { file: fileOf('key', key) };
  const command = [fileOf('notify', `#!/bin/sh\nexec cat >> "$1"\n`), join(folder, 'notified')];
  chmodSync(command[0] ?? '', 0o755);
  fileOf('allowed', JSON.stringify(command));
  const webhook = (name: string) => ({ name, webhook: { url: `${url}/${name}`, secret } });
  const chat = (name: string) => ({ name, [name]: { url: `${url}/${name}` } });
  const receivers = [
    ...['webhook', 'webhook-hangs', 'webhook-fails', 'webhook-limits', 'webhook-never'].map(webhook),
    ...['slack', 'teams', 'discord', 'alertmanager'].map(chat),
    { name: 'pagerduty', pagerduty: { url: `${url}/pagerduty`, routingKey: keyFile } },
    { name: 'opsgenie', opsgenie: { url: `${url}/opsgenie`, apiKey: keyFile } },
    {
      name: 'mail',
      email: { host: '127.0.0.1', port: mailPort, tls: 'none', from: 'a@example.org', to: ['b@example.org'] },
    },
    { name: 'exec', exec: { command } },
  ];
  const until = new Date(silencedUntilMs).toISOString();
  const alert = {
    name: 'down',
    remind: `${remindMs / 1_000}s`,
    groupBy: ['app'],
    silences: [{ match: { names: ['silenced'] }, until, reason: 'upgrade' }],
    notify: receivers.map(({ name }) => name),
  };
  return fileOf('probelet.json', JSON.stringify({ targets: ['targets.yaml'], alerts: [alert], receivers }));
}

async function mailServer() {
  let count = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, _, done) => {
      stream
        .on('data', () => undefined)
        .on('end', () => {
          count += 1;
          done();
        });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  return { port, count: () => count, close: () => new Promise<void>((resolve) => server.close(resolve)) };
}

function commandLines(folder: string): readonly string[] {
  const path = join(folder, 'notified');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
}

function repeatedIds(arrivals: readonly Arrival[]): readonly string[] {
  return [...Map.groupBy(arrivals, ({ id }) => id)].filter(([, all]) => all.length > 1).map(([id]) => `${id} twice`);
}

const sharedWrongly = (firing: readonly Arrival[]): readonly string[] =>
  firing.map((each) => each.names.join('+')).filter((text) => !['one+two', 'other', 'silenced'].includes(text));

/** Each notification of the healthy receiver, in its order; the first one at least twice. */
function recoveredFaults(arrivals: readonly Arrival[], healthy: readonly Arrival[]): readonly string[] {
  const ids = [...new Set(arrivals.map(({ id }) => id))];
  const [first, second] = arrivals;
  const missing = healthy.filter(({ id }) => !ids.includes(id));
  return [
    ...(first?.id === second?.id ? [] : ['the first one did not come again']),
    ...missing.map(({ id }) => `${id} is missing`),
    ...orderFaults(arrivals),
  ];
}

/** The end of a batch comes behind its beginning. */
function orderFaults(arrivals: readonly Arrival[]): readonly string[] {
  const batchOf = ({ id, kind }: Arrival) => id.slice(0, id.lastIndexOf(`-${kind}`));
  const begun = new Set<string>();
  return arrivals.flatMap((each) => {
    if (each.kind === 'firing') begun.add(batchOf(each));
    return begun.has(batchOf(each)) ? [] : [`${each.id} before its beginning`];
  });
}

function intervalFaults(arrivals: readonly Arrival[]): readonly string[] {
  const times = arrivals.filter(({ names: all, kind }) => all.includes('other') && kind !== 'resolved');
  return times.slice(1).flatMap(({ decidedMs }, index) => {
    const sinceMs = decidedMs - (times[index]?.decidedMs ?? 0);
    return sinceMs >= remindMs ? [] : [`${sinceMs} ms after the one before`];
  });
}
