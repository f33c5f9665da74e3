/** The part of Kubernetes' API that the cases of container probes use, for any client of Kubernetes. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import type { Cluster, Created, CreatedPod, Recorded } from './cluster.ts';
import type { Change, PodWorker } from './pod-worker.ts';
import type { Metadata, Pod } from './spec.ts';

const v1 = { apiVersion: 'v1' } as const;

const failure = (code: number, reason: string, message: string): Response =>
  Response.json({ ...v1, kind: 'Status', metadata: {}, status: 'Failure', reason, code, message }, { status: code });

const notFound = (what: string): Response => failure(404, 'NotFound', `${what} not found`);

const namespaceOf = ({ metadata: { namespace: _, ...metadata } }: { readonly metadata: Metadata }): object => ({
  ...v1,
  kind: 'Namespace',
  metadata,
  status: { phase: 'Active' },
});

/** `a=b,c.d=e`, each by its value in the object. */
export function selects(selector: string | undefined, object: object): boolean {
  const terms = (selector ?? '').split(',').filter((term) => term !== '');
  return terms.every((term) => {
    const [field = '', wanted] = term.split(/==?/);
    const value = field.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], object);
    return value === wanted;
  });
}

type Api = { readonly cluster: Cluster; readonly listOf: (kind: string, items: readonly object[]) => Response };

/** Starts it on a free port; returns its address. */
export async function serveCluster(cluster: Cluster): Promise<string> {
  const listOf: Api['listOf'] = (kind, items) =>
    Response.json({ ...v1, kind, metadata: { resourceVersion: cluster.resourceVersion }, items });
  const app = new Hono();
  app.get('/version', () => Response.json({ major: '1', minor: '36', gitVersion: 'v1.36.3' }));
  app.get('/api/v1/nodes', () => listOf('NodeList', []));
  addNamespaces(app, { cluster, listOf });
  addPods(app, { cluster, listOf });
  app.notFound((c) => notFound(c.req.path));
  app.onError((error) => {
    cluster.faults.push(`the API server: ${error.stack}`);
    return failure(500, 'InternalError', error.message);
  });
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(`http://127.0.0.1:${port}`));
  });
}

function addNamespaces(app: Hono, { cluster, listOf }: Api): void {
  app.post('/api/v1/namespaces', async (c) => {
    const created = cluster.createNamespace(await c.req.json<Created>());
    if (created === undefined) return failure(409, 'AlreadyExists', 'there is a namespace of this name');
    return Response.json(namespaceOf(created), { status: 201 });
  });
  app.get('/api/v1/namespaces/:ns', (c) => {
    const namespace = cluster.namespace(c.req.param('ns'));
    return namespace ? Response.json(namespaceOf(namespace)) : notFound(c.req.path);
  });
  app.delete('/api/v1/namespaces/:ns', async (c) => {
    const namespace = cluster.namespace(c.req.param('ns'));
    if (namespace === undefined) return notFound(c.req.path);
    await cluster.deleteNamespace(namespace.metadata.name);
    return Response.json(namespaceOf(namespace));
  });
  app.get('/api/v1/namespaces/:ns/events', (c) => {
    const items = (cluster.namespace(c.req.param('ns'))?.events ?? []).map(eventOf);
    return listOf(
      'EventList',
      items.filter((event) => selects(c.req.query('fieldSelector'), event)),
    );
  });
}

const eventOf = ({ involvedObject: { name, namespace, uid }, ...event }: Recorded, index: number): object => ({
  ...v1,
  kind: 'Event',
  metadata: { name: `${name}.${index}`, namespace },
  involvedObject: { ...v1, kind: 'Pod', name, namespace, uid },
  source: { component: 'kubelet' },
  ...event,
});

function addPods(app: Hono, { cluster, listOf }: Api): void {
  const one = '/api/v1/namespaces/:ns/pods/:name';
  app.post('/api/v1/namespaces/:ns/pods', async (c) => {
    const namespace = cluster.namespace(c.req.param('ns'));
    if (namespace === undefined) return notFound(c.req.path);
    return Response.json(cluster.createPod(namespace, await c.req.json<CreatedPod>()), { status: 201 });
  });
  app.get('/api/v1/namespaces/:ns/pods', async (c) => {
    const selector = c.req.query('fieldSelector');
    const workers = cluster.podsOf(c.req.param('ns')).filter(({ pod }) => selects(selector, pod));
    await Promise.all(workers.map((worker) => worker.refresh()));
    const pods = workers.map(({ pod }) => cluster.stamped(pod));
    if (c.req.query('watch') === undefined) return listOf('PodList', pods);
    const isAsked = (pod: Pod) => pod.metadata.namespace === c.req.param('ns') && selects(selector, pod);
    return watchOf(cluster, isAsked, c.req.query('sendInitialEvents') === 'true' ? pods : undefined);
  });
  app.get(one, async (c) => {
    const worker = cluster.pod(c.req.param('ns'), c.req.param('name'));
    await worker?.refresh();
    return shown(cluster, worker, c.req.path);
  });
  app.delete(one, async (c) => {
    const worker = cluster.pod(c.req.param('ns'), c.req.param('name'));
    const options = (await c.req.json().catch(() => ({}))) as { readonly gracePeriodSeconds?: number };
    await worker?.delete(options.gracePeriodSeconds ?? worker.pod.spec.terminationGracePeriodSeconds ?? 0);
    return shown(cluster, worker, c.req.path);
  });
}

const shown = (cluster: Cluster, worker: PodWorker | undefined, path: string): Response =>
  worker ? Response.json(cluster.stamped(worker.pod)) : notFound(path);

/** A line a change. `initial`: the Pods that the client asks for first, which a bookmark ends. */
function watchOf(cluster: Cluster, isAsked: (pod: Pod) => boolean, initial?: readonly Pod[]): Response {
  let end = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      const send = (type: Change | 'BOOKMARK', object: object) =>
        controller.enqueue(encoder.encode(`${JSON.stringify({ type, object })}\n`));
      end = cluster.watch((change, pod) => isAsked(pod) && send(change, pod));
      for (const pod of initial ?? []) send('ADDED', pod);
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      const metadata = { resourceVersion: cluster.resourceVersion, annotations };
      if (initial) send('BOOKMARK', { ...v1, kind: 'Pod', metadata });
    },
    cancel: () => end(),
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
