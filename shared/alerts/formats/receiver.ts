/** A receiver with its secrets, and the request that a format makes for it. */

/** Receives a request over HTTP. */
export type HttpReceiver =
  | { readonly kind: 'webhook'; readonly name: string; readonly url: string; readonly secret?: string }
  | { readonly kind: 'slack' | 'teams' | 'discord' | 'alertmanager'; readonly name: string; readonly url: string }
  | { readonly kind: 'pagerduty' | 'opsgenie'; readonly name: string; readonly url?: string; readonly key: string };

/** A server that takes mail by SMTP. */
export type MailReceiver = {
  readonly kind: 'email';
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly tls: 'starttls' | 'implicit' | 'none';
  /** Trusted certificates in PEM. Absent: those that Node trusts. */
  readonly ca?: string;
  readonly login?: { readonly user: string; readonly password: string };
  readonly from: string;
  readonly to: readonly string[];
};

/** A program of this machine. */
export type CommandReceiver = { readonly kind: 'exec'; readonly name: string; readonly command: readonly string[] };

export type Receiver = HttpReceiver | MailReceiver | CommandReceiver;

export type AlertRequest = {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
};

/** Returns a request with a JSON body. */
export function jsonRequest(url: string, content: object, headers: AlertRequest['headers'] = {}): AlertRequest {
  const body = JSON.stringify(content);
  return { method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, body };
}
