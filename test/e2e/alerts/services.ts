/** Fake services on loopback. Each judges what it gets by the published schema of its format, and keeps what came. */
import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { bodyFaults, type Format, formats } from '../../alerts/published-schemas.ts';
import { closeServer, listenOnLoopback } from './loopback.ts';

export type Arrival = {
  readonly receiver: string;
  /** Of the notification; empty in formats that have none. */
  readonly id: string;
  readonly kind: string;
  readonly alert: string;
  /** The incidents that a service opens and closes together have one. */
  readonly batch: string;
  /** It ends the last incident of its batch. */
  readonly isClosing: boolean;
  readonly names: readonly string[];
  /** `CAUSE NAME` of each incident. */
  readonly incidents: readonly string[];
  /** When it was decided to send it; 0 in formats that do not say so. */
  readonly decidedMs: number;
  readonly atMs: number;
};

/** What a receiver does with a request, beside keeping it. Absent: it answers as the service does. */
export type Misbehaviour = (response: ServerResponse, arrival: Arrival) => boolean;

export type Services = {
  readonly url: string;
  readonly arrived: readonly Arrival[];
  /** What no real service would accept. */
  readonly faults: readonly string[];
  readonly close: () => Promise<void>;
};

export const secretBytes = Buffer.alloc(32, 5);
export const key = 'r'.repeat(32);

/** How old a signed webhook may be. */
const toleranceMs = 300_000;
const accepted: { readonly [format in Format]?: number } = { pagerduty: 202, opsgenie: 202, discord: 204 };

/** The times that the sender's clock may show, epoch ms. */
type SenderClock = () => readonly number[];

/** The first part of a path is the receiver; the format is the receiver's name up to a hyphen. */
export async function startServices(
  misbehaviours: { readonly [receiver: string]: Misbehaviour },
  senderClock: SenderClock = () => [Date.now()],
): Promise<Services> {
  const arrived: Arrival[] = [];
  const faults: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const [, receiver = ''] = (request.url ?? '').split('/');
    const format = formats.find((each) => each === receiver.split('-')[0]) ?? 'webhook';
    faults.push(...faultsOf(format, { request, body, times: senderClock() }).map((fault) => `${receiver}: ${fault}`));
    const arrival = { receiver, atMs: Date.now(), ...(format === 'webhook' ? webhookArrival(body) : noDetails) };
    arrived.push(arrival);
    if (misbehaviours[receiver]?.(response, arrival)) return;
    response.writeHead(accepted[format] ?? 200).end();
  });
  const port = await listenOnLoopback(server);
  return { url: `http://127.0.0.1:${port}`, arrived, faults, close: () => closeServer(server) };
}

const noDetails = { id: '', kind: '', alert: '', batch: '', isClosing: false, names: [], incidents: [], decidedMs: 0 };

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function webhookArrival(body: string) {
  const { timestamp, data } = JSON.parse(body);
  const { id, kind, alert, batch, closed } = data;
  const incidents: readonly { readonly cause: string; readonly name: string }[] = data.incidents;
  return {
    ...{ id, kind, alert, batch, isClosing: closed, decidedMs: Date.parse(timestamp) },
    names: incidents.map(({ name }) => name).sort(),
    incidents: incidents.map(({ cause, name }) => `${cause} ${name}`),
  };
}

type Received = { readonly request: IncomingMessage; readonly body: string; readonly times: readonly number[] };

function faultsOf(format: Format, { request, body, times }: Received): readonly string[] {
  const { headers, method, url = '' } = request;
  return [
    ...bodyFaults(format, body),
    ...(method === 'POST' ? [] : [`the method is ${method}`]),
    ...(headers['content-type'] === 'application/json' ? [] : [`the content type is ${headers['content-type']}`]),
    ...(format === 'webhook' ? signatureFaults(headers, body, times) : []),
    ...(format === 'opsgenie' ? opsgenieFaults(headers, url) : []),
    ...(format === 'alertmanager' && !url.endsWith('/api/v2/alerts') ? [`the path is ${url}`] : []),
  ];
}

type Headers = IncomingMessage['headers'];

/** Standard Webhooks: signature, and a timestamp in seconds that is not old. */
function signatureFaults(headers: Headers, body: string, times: readonly number[]): readonly string[] {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
  const wanted = createHmac('sha256', secretBytes).update(`${id}.${timestamp}.${body}`).digest('base64');
  const isNow = times.some((timeMs) => Math.abs(timeMs - Number(timestamp) * 1_000) <= toleranceMs);
  return [
    ...(signature === `v1,${wanted}` ? [] : ['the signature is wrong']),
    ...(isNow ? [] : [`the timestamp is ${timestamp}`]),
  ];
}

function opsgenieFaults({ authorization }: Headers, url: string): readonly string[] {
  const isKnown = /^\/[^/]+(\/[^/?]+\/close\?identifierType=alias)?$/.test(url);
  return [
    ...(authorization === `GenieKey ${key}` ? [] : ['the key is missing']),
    ...(isKnown ? [] : [`the path is ${url}`]),
  ];
}
