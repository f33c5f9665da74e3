/** A real Chromium without a window, driven over the DevTools protocol on its WebSocket. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Browser = {
  /** Opens a page and returns once it has loaded. */
  open(url: string): Promise<Page>;
  close(): Promise<void>;
};

export type Page = {
  /** The value of an expression, which may be a promise, as JSON. */
  evaluate(expression: string): Promise<unknown>;
};

const programs = ['chromium', 'chromium-browser', 'google-chrome'];
export const howToInstall = 'no Chromium found; on Debian: apt-get install -y chromium';

export function findChromium(): string | undefined {
  return programs.find((program) => spawnSync(program, ['--version']).status === 0);
}

const startMsMax = 60_000;
const callMsMax = 60_000;

/** `name` is resolved to the loopback address, whatever DNS says. */
export async function startChromium(program: string, name: string): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), 'chromium-'));
  const quiet = ['disable-background-networking', 'disable-component-update', 'disable-sync', 'no-first-run'];
  const machine = ['headless', 'no-sandbox', 'disable-gpu', 'disable-quic', 'disable-dev-shm-usage'];
  const args = [...machine, ...quiet].map((flag) => `--${flag}`);
  const child = spawn(
    program,
    [...args, `--host-resolver-rules=MAP ${name} 127.0.0.1`, '--remote-debugging-port=0', `--user-data-dir=${folder}`],
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  const connection = await connect(await devTools(child));
  return {
    async open(url) {
      const { targetId } = await connection.call('Target.createTarget', { url: 'about:blank' });
      const { sessionId } = await connection.call('Target.attachToTarget', { targetId, flatten: true });
      const session = String(sessionId);
      await connection.call('Page.enable', {}, session);
      const loaded = connection.event('Page.loadEventFired', session);
      await connection.call('Page.navigate', { url }, session);
      await loaded;
      return { evaluate: (expression) => evaluate(connection, session, expression) };
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      connection.close();
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

async function evaluate(connection: Connection, session: string, expression: string): Promise<unknown> {
  const options = { expression, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await connection.call('Runtime.evaluate', options, session);
  if (exceptionDetails) throw new Error(`the page failed: ${JSON.stringify(exceptionDetails)}`);
  return (result as { readonly value?: unknown }).value;
}

function devTools({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const tooLate = setTimeout(() => reject(new Error(`Chromium did not start: ${said}`)), startMsMax);
    let said = '';
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const url = /DevTools listening on (ws:\S+)/.exec(said)?.[1];
      if (url === undefined) return;
      clearTimeout(tooLate);
      resolve(url);
    });
  });
}

type Answer = { readonly [field: string]: unknown };

type Connection = {
  call(method: string, params: object, session?: string): Promise<Answer>;
  event(method: string, session: string): Promise<void>;
  close(): void;
};

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly result?: Answer;
  readonly error?: { readonly message: string };
};

async function connect(url: string): Promise<Connection> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const waiting = new Set<(message: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    for (const look of waiting) look(message);
  });
  const received = (what: string, isIt: (message: Message) => boolean): Promise<Message> =>
    new Promise((resolve, reject) => {
      const look = (message: Message) => {
        if (!isIt(message)) return;
        clearTimeout(tooLate);
        waiting.delete(look);
        resolve(message);
      };
      const tooLate = setTimeout(() => reject(new Error(`no answer to ${what}`)), callMsMax);
      waiting.add(look);
    });
  let last = 0;
  return {
    async call(method, params, sessionId) {
      const id = ++last;
      const answer = received(method, (message) => message.id === id);
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      const { result, error } = await answer;
      if (error) throw new Error(`${method}: ${error.message}`);
      return result ?? {};
    },
    async event(method, session) {
      await received(method, (message) => message.method === method && message.sessionId === session);
    },
    close: () => socket.close(),
  };
}
