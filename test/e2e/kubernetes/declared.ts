/**
 * The texts in which probelet differs from kubelet on purpose: the only place that lists them. Each has its number in
 * docs/semantics.md. What probelet says has to be exactly what is declared here; the rest of kubelet's text comes from
 * the server that was probed.
 */
import { containersOf, type PodSpec } from './spec.ts';

const redirected = 'Liveness probe warning: Probe terminated redirects';

/** What differs, by its number. */
export const declaredTexts = [
  { difference: 6, text: redirected, why: 'a response body is not kept, so the warning ends before it' },
] as const;

type Recorded = { readonly container: string; readonly message: string };
type Text = { readonly message: string /** probelet's own. */; readonly said?: string };

/** kubelet's text where probelet's differs as declared; probelet's own everywhere else. */
export async function asKubelets({ container, message }: Recorded, spec: PodSpec, podIP: string): Promise<Text> {
  if (message !== redirected) return { message };
  const request = containersOf(spec).find(({ name }) => name === container)?.livenessProbe?.httpGet as HttpGet;
  const response = await fetch(`http://${podIP}:${request.port}${request.path}`, { redirect: 'manual' });
  return { message: `${message}, Response body: ${await response.text()}`, said: message };
}

type HttpGet = { readonly path: string; readonly port: number };
