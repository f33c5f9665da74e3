/**
 * `npm run e2e:browser`: a page in a real Chromium against `npm start`. With DNS rebinding the page's name first
 * belongs to the attacker's server, then to the loopback address of `npm start`; without it the page stays where it is.
 * Ends with `N passed, N failed`.
 */
import { createServer } from 'node:http';
import { say, tallyOf } from '../../support/tally.ts';
import { listenWith } from '../../support/tcp-server.ts';
import { type Browser, findChromium, howToInstall, type Page, startChromium } from './chromium.ts';
import { type Attempt, attempt, type Seen } from './page.ts';
import { attempts, routes, type Served, startProbelet, token } from './served.ts';

const evil = 'evil.test';
const { verdict, end } = tallyOf(say, { failedOnly: true });

const program = findChromium();
if (program === undefined) {
  process.stderr.write(`${howToInstall}\n`);
  process.exit(1);
}

/** Serves a page on a free port until it leaves that to another server. */
async function attacker(): Promise<{ readonly port: number; leave(): Promise<void> }> {
  const headers = { 'content-type': 'text/html', connection: 'close' };
  const server = createServer((_, response) =>
    response.writeHead(200, headers).end('<!doctype html><body>evil</body>'),
  );
  const { port, close } = await listenWith(server, '127.0.0.1');
  return { port, leave: close };
}

async function seenBy(page: Page, tried: Attempt): Promise<Seen> {
  return (await page.evaluate(`(${attempt.toString()})(${JSON.stringify(tried)})`)) as Seen;
}

const nameOf = ({ way, method, url }: Attempt) => `${way} ${method} ${url}`;

/** The page learns only that it was refused, and nothing is stored. */
async function refuseAll(what: string, page: Page, served: Served, tried: readonly Attempt[]): Promise<void> {
  for (const one of tried) {
    const seen = await seenBy(page, one);
    const stored = await served.targets();
    const leaked = seen.body?.includes('"targets"') || seen.body?.includes('openapi') || seen.body?.includes('prober_');
    verdict(`${what}: ${nameOf(one)}`, [
      ...(seen.learned ? [`answered ${seen.status ?? ''}`] : []),
      ...(leaked ? [`the page read ${seen.body?.slice(0, 80)}`] : []),
      ...(stored.join() === served.registered ? [] : [`stored: ${stored.join()}`]),
    ]);
  }
}

/** The page of a name that is the attacker's first, and then the process's. */
async function rebound(browser: Browser): Promise<void> {
  const before = await attacker();
  const page = await browser.open(`http://${evil}:${before.port}/`);
  await before.leave();
  const served = await startProbelet(before.port);
  await refuseAll('rebound', page, served, attempts(`http://${evil}:${served.port}`));
  await served.stop();
}

/** The page stays where it is, and asks the loopback address by all of its names. */
async function across(browser: Browser): Promise<void> {
  const served = await startProbelet(0);
  const elsewhere = await attacker();
  for (const site of [evil, 'localhost'])
    for (const name of ['127.0.0.1', 'localhost']) {
      const page = await browser.open(`http://${site}:${elsewhere.port}/`);
      await refuseAll(`from ${site}`, page, served, attempts(`http://${name}:${served.port}`));
    }
  await elsewhere.leave();
  await served.stop();
}

/** With a required token, only requests with the token succeed, from a page of any name that leads there. */
async function withToken(browser: Browser): Promise<void> {
  const before = await attacker();
  const page = await browser.open(`http://${evil}:${before.port}/`);
  await before.leave();
  const served = await startProbelet(before.port, { token: true });
  const origin = `http://${evil}:${served.port}`;
  // Health is public where a token is needed.
  await refuseAll(
    'without the token',
    page,
    served,
    attempts(origin).filter(({ url }) => !url.endsWith('/healthz')),
  );
  for (const [method, path, body, status] of routes) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) };
    const seen = await seenBy(page, {
      way: 'fetch',
      method,
      url: origin + path,
      headers,
      ...(body !== undefined && { body }),
    });
    verdict(
      `with the token: ${method} ${path}`,
      seen.status === status ? [] : [`answered ${seen.status} ${seen.body}`],
    );
  }
  await served.stop();
}

const browser = await startChromium(program, evil);
try {
  await rebound(browser);
  await across(browser);
  await withToken(browser);
} finally {
  await browser.close();
}
end();
