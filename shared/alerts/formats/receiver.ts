/** A receiver with its secrets, and the request that a format makes for it. */

export type Receiver =
  | { readonly kind: 'webhook'; readonly name: string; readonly url: string; readonly secret?: string }
  | { readonly kind: 'slack' | 'teams' | 'discord' | 'alertmanager'; readonly name: string; readonly url: string }
  | { readonly kind: 'pagerduty' | 'opsgenie'; readonly name: string; readonly url?: string; readonly key: string };

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
