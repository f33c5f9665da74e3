/** What runs inside of the page. Its source text is sent there, so it uses nothing but its argument and the browser. */

/** What one attempt came to, as the page sees it: a status and text, or that it learned nothing. */
export type Seen = { readonly status?: number; readonly body?: string; readonly learned: boolean };

type Browsing = typeof globalThis & {
  readonly document: {
    readonly body: { append(element: Element): void };
    createElement(name: string): Element;
  };
  readonly XMLHttpRequest: new () => Xhr;
  readonly EventSource: new (url: string) => Listening;
};
type Listening = { onopen: unknown; onerror: unknown; onmessage: unknown; close(): void };
type Xhr = {
  readonly status: number;
  readonly responseText: string;
  open(method: string, url: string): void;
  send(body?: string): void;
  onload: unknown;
  onerror: unknown;
};
type Element = {
  name: string;
  src: string;
  rel: string;
  href: string;
  action: string;
  method: string;
  enctype: string;
  target: string;
  value: string;
  onload: unknown;
  onerror: unknown;
  append(element: Element): void;
  submit(): void;
};

export type Attempt = {
  readonly way:
    | 'fetch'
    | 'no-cors'
    | 'xhr'
    | 'form'
    | 'img'
    | 'script'
    | 'link'
    | 'iframe'
    | 'websocket'
    | 'eventsource'
    | 'beacon';
  readonly url: string;
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export async function attempt({ way, url, method, headers, body }: Attempt): Promise<Seen> {
  const browser = globalThis as Browsing;
  const patientMs = 3_000;
  const once = (start: (done: (seen: Seen) => void) => void) =>
    new Promise<Seen>((resolve) => {
      setTimeout(() => resolve({ learned: false }), patientMs);
      start(resolve);
    });
  const element = (name: string, fill: (made: Element) => void) =>
    once((done) => {
      const made = browser.document.createElement(name);
      made.onload = () => done({ learned: name !== 'iframe' });
      made.onerror = () => done({ learned: false });
      fill(made);
      browser.document.body.append(made);
    });
  switch (way) {
    case 'fetch':
    case 'no-cors':
      try {
        const mode = way === 'fetch' ? 'cors' : 'no-cors';
        const answer = await fetch(url, { method, mode, ...(headers && { headers }), ...(body && { body }) });
        // A watch does not end.
        const read = await Promise.race([answer.text(), once(() => {})]);
        return { status: answer.status, ...(typeof read === 'string' && { body: read }), learned: answer.ok };
      } catch {
        return { learned: false };
      }
    case 'xhr':
      return once((done) => {
        const xhr = new browser.XMLHttpRequest();
        xhr.onload = () => done({ status: xhr.status, body: xhr.responseText, learned: xhr.status < 400 });
        xhr.onerror = () => done({ learned: false });
        xhr.open(method, url);
        xhr.send(body);
      });
    case 'form':
      return once((done) => {
        const frame = browser.document.createElement('iframe');
        frame.name = `frame${Math.random()}`;
        const form = browser.document.createElement('form');
        Object.assign(form, { action: url, method, enctype: 'text/plain', target: frame.name });
        const field = browser.document.createElement('input');
        // The whole body, but for the sign between name and value.
        Object.assign(field, { name: (body ?? '').slice(0, -1), value: '}' });
        form.append(field);
        browser.document.body.append(frame);
        browser.document.body.append(form);
        frame.onload = () => done({ learned: false });
        form.submit();
      });
    case 'link':
      return element('link', (made) => Object.assign(made, { rel: 'stylesheet', href: url }));
    case 'img':
    case 'script':
    case 'iframe':
      return element(way, (made) => {
        made.src = url;
      });
    case 'beacon':
      (navigator as unknown as { sendBeacon(url: string, body?: string): void }).sendBeacon(url, body);
      return { learned: false };
    case 'websocket':
      return once((done) => {
        const socket = new WebSocket(url.replace('http', 'ws'));
        socket.onopen = () => done({ learned: true });
        socket.onerror = () => done({ learned: false });
      });
    case 'eventsource':
      return once((done) => {
        const source = new browser.EventSource(url);
        const end = (learned: boolean) => () => {
          source.close();
          done({ learned });
        };
        source.onopen = end(true);
        source.onerror = end(false);
      });
  }
}
