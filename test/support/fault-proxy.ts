/**
 * A proxy in front of a local AWS service (JSON protocol: the operation stands in `x-amz-target`) that does to each
 * call what a script says.
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What is answered instead of the service's own answer. */
export type Answer = {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body: string;
};

export type Fault =
  | { readonly kind: 'pass' }
  /** The connection breaks before the service has seen the request. */
  | { readonly kind: 'dropRequest' }
  /** The service has done it, the connection breaks before the answer. */
  | { readonly kind: 'dropResponse' }
  /** The service has done it, the connection breaks in the middle of the answer. */
  | { readonly kind: 'cutResponse' }
  /** The service sees the request late; who has given up waiting does not learn of it. */
  | { readonly kind: 'delayRequest'; readonly delayMs: number }
  /** The service does it at once and answers late. */
  | { readonly kind: 'delayResponse'; readonly delayMs: number }
  /** `applied`: the service has done it, but this is answered. */
  | { readonly kind: 'answer'; readonly answer: Answer; readonly applied?: boolean }
  /** The service's own answer, changed on its way. */
  | { readonly kind: 'edit'; readonly edit: (answer: Answer) => Answer };

export type ProxiedCall = {
  /** Counts from 0 since the last script. */
  readonly index: number;
  /** `PutItem`, `TransactWriteItems` … */
  readonly operation: string;
  readonly body: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
};

/** A call that the service has answered, whatever answer the caller got. */
export type Forwarded = {
  readonly call: ProxiedCall;
  readonly answer: Answer;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
};

export type Script = (call: ProxiedCall) => Fault;

export type FaultProxy = {
  readonly endpoint: string;
  /** Replaces the script and begins to count again. */
  play(script: Script): void;
  /** The calls since the last script. */
  calls(): readonly ProxiedCall[];
  /** Resolves when nothing is delayed or on its way any more. */
  idle(): Promise<void>;
  close(): Promise<void>;
};

export const passAll: Script = () => ({ kind: 'pass' });

/** One fault at one call, everything else passes. */
export const faultAt =
  (index: number, fault: Fault): Script =>
  (call) =>
    call.index === index ? fault : { kind: 'pass' };

/** `headers`: what each request gets on its way. */
type Target = { readonly port: number; readonly headers?: Readonly<Record<string, string>> };

export async function startFaultProxy(
  target: Target,
  onForwarded: (forwarded: Forwarded) => void = () => undefined,
): Promise<FaultProxy> {
  let script = passAll;
  let calls: ProxiedCall[] = [];
  const pending = new Set<Promise<void>>();
  const server = createServer((incoming, outgoing) => {
    const done = serve(incoming, outgoing).catch(() => {
      outgoing.destroy();
    });
    pending.add(done);
    void done.finally(() => pending.delete(done));
  });

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const operation = String(incoming.headers['x-amz-target'] ?? '').replace(/^.*\./, '');
    const { url: path = '', headers } = incoming;
    const call = { index: calls.length, operation, body: body.toString(), path, headers };
    calls.push(call);
    const forward = async () => {
      const sentAtMs = performance.now();
      const answer = await forwarded(incoming, body, target);
      onForwarded({ call, answer, sentAtMs, answeredAtMs: performance.now() });
      return answer;
    };
    await inflict(script(call), { outgoing, forward });
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    play: (next) => {
      script = next;
      calls = [];
    },
    calls: () => calls,
    idle: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Exchange = { readonly outgoing: ServerResponse; readonly forward: () => Promise<Answer> };

async function inflict(fault: Fault, { outgoing, forward }: Exchange): Promise<void> {
  switch (fault.kind) {
    case 'pass':
      return answered(outgoing, await forward());
    case 'dropRequest':
      outgoing.destroy();
      return;
    case 'dropResponse':
      await forward();
      outgoing.destroy();
      return;
    case 'cutResponse':
      return cut(outgoing, await forward());
    case 'delayRequest':
      await passed(fault.delayMs);
      return answered(outgoing, await forward());
    case 'delayResponse': {
      const answer = await forward();
      await passed(fault.delayMs);
      return answered(outgoing, answer);
    }
    case 'answer':
      if (fault.applied) await forward();
      return answered(outgoing, fault.answer);
    case 'edit':
      return answered(outgoing, fault.edit(await forward()));
  }
}

const passed = (delayMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));

/** The client may have given up: then no client is left to answer. */
async function answered(outgoing: ServerResponse, answer: Answer): Promise<void> {
  if (outgoing.destroyed) return;
  outgoing.writeHead(answer.status, { ...answer.headers, 'content-length': String(Buffer.byteLength(answer.body)) });
  outgoing.end(answer.body);
}

function cut(outgoing: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  outgoing.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
  return new Promise((resolve) => {
    outgoing.write(body.slice(0, body.length >> 1), () => {
      outgoing.destroy();
      resolve();
    });
  });
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Hop-by-hop headers and those that describe the original body's framing. */
const droppedHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
]);

function forwarded(incoming: IncomingMessage, body: Buffer, { port, headers: more }: Target): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, url } = incoming;
    const headers = { ...incoming.headers, ...more };
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (response) => {
      bodyOf(response).then(
        (answer) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: keptHeaders(response.headers),
            body: answer.toString(),
          }),
        reject,
      );
    });
    onward.once('error', reject);
    onward.end(body);
  });
}

const keptHeaders = (headers: IncomingMessage['headers']): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name, value]) => value !== undefined && !droppedHeaders.has(name))
      .map(([name, value]) => [name, String(value)]),
  );
