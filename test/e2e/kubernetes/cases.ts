/**
 * Every case of test/e2e/common/node/container_probe.go of Kubernetes, and the texts that kubelet's code gives its
 * events meanwhile. Where Kubernetes adds, renames or drops a case, a run fails until the same is declared here.
 */

/** What a text names. */
export type Names = {
  /** The container that is probed. */
  readonly container: string;
  readonly isSidecar: boolean;
  readonly podIP: string;
  /** A command as it is run: what runs it in its container, and its words. */
  readonly command: (words: string) => string;
};

/** `Reason: message`. */
type Text = (names: Names) => string;

/** Source: recordContainerEvent of pkg/kubelet/prober/prober.go. */
const failed =
  (probe: 'Liveness' | 'Readiness' | 'Startup', output: string | Text): Text =>
  (names) =>
    `Unhealthy: ${probe} probe failed: ${typeof output === 'string' ? output : output(names)}`;

/** Source: computePodActions and computeInitContainerActions of pkg/kubelet/kuberuntime. */
const killedFor =
  (probe: 'liveness' | 'startup'): Text =>
  ({ container, isSidecar }) =>
    isSidecar
      ? `Killing: Init container ${container} failed ${probe} probe`
      : `Killing: Container ${container} failed ${probe} probe, will be restarted`;

/** Source: net.OpError, within url.Error of an HTTP client. */
const refused =
  (port: number, path: string): Text =>
  ({ podIP }) =>
    `Get "http://${podIP}:${port}${path}": dial tcp ${podIP}:${port}: connect: connection refused`;

/** Source: ExecSync of k8s.io/cri-client/pkg/remote_runtime.go. */
const timedOut =
  (words: string): Text =>
  ({ command }) =>
    `command timed out: "${command(words)}" timed out after 1s`;

/** Source: pkg/probe/grpc/grpc.go. */
const notConnected =
  (port: number): Text =>
  ({ podIP }) =>
    `timeout: failed to connect service "${podIP}:${port}" within 5s: context deadline exceeded`;

/** What cat says. */
const noFile = (cat: string, file: string) => `${cat}: ${file}: No such file or directory\n`;
/** Source: pkg/probe/http/http.go. */
const internalError = 'HTTP probe failed with statuscode: 500';
const redirected = 'Probe terminated redirects, Response body: <a href="http://0.0.0.0/">Found</a>.\n\n';

const livenessRestart = (output: string | Text): readonly Text[] => [failed('Liveness', output), killedFor('liveness')];

type Behaviour = {
  /** Kubernetes' name of it. */
  readonly name: string;
  readonly texts?: readonly Text[];
  /** Of a sidecar, where they differ from those of another container. */
  readonly ofSidecar?: Partial<Pick<Case, 'texts' | 'possible' | 'notStatic'>>;
};

const fileRemoved = failed('Readiness', noFile('cat', '/tmp/ready'));

/** In the order of the file. */
const behaviours: readonly Behaviour[] = [
  { name: 'with readiness probe should not be ready before initial delay and never restart' },
  {
    name: 'with readiness probe that fails should never be ready and never restart',
    texts: [failed('Readiness', refused(81, '/'))],
  },
  {
    name: 'should be restarted with a exec "cat /tmp/health" liveness probe',
    texts: livenessRestart(noFile('cat', '/tmp/health')),
  },
  { name: 'should *not* be restarted with a exec "cat /tmp/health" liveness probe' },
  { name: 'should be restarted with a /healthz http liveness probe', texts: livenessRestart(internalError) },
  { name: 'should *not* be restarted with a tcp:8080 liveness probe' },
  { name: 'should have monotonically increasing restart count', texts: livenessRestart(internalError) },
  { name: 'should *not* be restarted with a /healthz http liveness probe' },
  {
    name: 'should be restarted with an exec liveness probe with timeout',
    texts: livenessRestart(timedOut('/bin/sh -c sleep 10')),
  },
  {
    name: 'should not be ready with an exec readiness probe timeout',
    texts: [failed('Readiness', timedOut('/bin/sh -c sleep 10'))],
  },
  {
    name: 'should be restarted with a failing exec liveness probe that took longer than the timeout',
    texts: livenessRestart(''),
  },
  { name: 'should be restarted with a local redirect http liveness probe', texts: livenessRestart(internalError) },
  {
    name: 'should *not* be restarted with a non-local redirect http liveness probe',
    texts: [() => `ProbeWarning: Liveness probe warning: ${redirected}`],
  },
  { name: 'should be restarted startup probe fails', texts: [failed('Startup', ''), killedFor('startup')] },
  {
    name: 'should *not* be restarted by liveness probe because startup probe delays it',
    texts: [failed('Startup', '')],
  },
  { name: 'should be restarted by liveness probe after startup probe enables it', texts: livenessRestart('') },
  {
    name: 'should be ready immediately after startupProbe succeeds',
    texts: [failed('Startup', noFile('/bin/cat', '/tmp/startup'))],
    ofSidecar: { notStatic: 'the regular container of a static target does not wait for its sidecar' },
  },
  {
    name: 'should override timeoutGracePeriodSeconds when LivenessProbe field is set',
    texts: livenessRestart(refused(8080, '/healthz')),
  },
  {
    name: 'should override timeoutGracePeriodSeconds when StartupProbe field is set',
    texts: [failed('Startup', noFile('/bin/cat', '/tmp/startup')), killedFor('startup')],
  },
  { name: 'should *not* be restarted with a GRPC liveness probe' },
  { name: 'should be restarted with a GRPC liveness probe', texts: livenessRestart(notConnected(2333)) },
  {
    name: 'should mark readiness on pods to false while pod is in progress of terminating when a pod has a readiness probe',
    texts: [fileRemoved],
    // The regular container ends first, after which the Pod is not ready and the case is over.
    ofSidecar: { texts: [], possible: [fileRemoved] },
  },
  {
    name: 'should mark readiness on pods to false and disable liveness probes while pod is in progress of terminating',
    texts: [fileRemoved],
  },
];

const kinds = [
  { title: 'Probing container', isSidecar: false },
  { title: 'Probing restartable init container', isSidecar: true },
] as const;

export type Case = {
  readonly name: string;
  /** Each of them is recorded, and no other but those that are possible. */
  readonly texts: readonly Text[];
  readonly possible: readonly Text[];
  /** Why it is not played for lifecycle `static`. */
  readonly notStatic?: string;
  /** Watches for four minutes that nothing happens: the slice leaves it out. */
  readonly isLong: boolean;
};

export const cases: readonly Case[] = kinds.flatMap(({ title, isSidecar }) =>
  behaviours.map(({ name, texts = [], ofSidecar }) => ({
    name: `${title} ${name}`,
    texts,
    possible: [],
    ...(isSidecar && ofSidecar),
    isLong: name.startsWith('should *not* be restarted'),
  })),
);

/** A case as the binary names it, without its labels: `[sig-node] Probing container … [NodeConformance]`. */
export const nameOf = (text: string): string =>
  text
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\s+/g, ' ')
    .trim();

/** What the binary has and what is declared, where they differ. */
export function undeclared(inBinary: readonly string[], declared: readonly string[]): readonly string[] {
  const without = (some: readonly string[], others: readonly string[], why: string) =>
    some.filter((name) => !others.includes(name)).map((name) => `${name}: ${why}`);
  const twice = inBinary.filter((name, index) => inBinary.indexOf(name) !== index);
  return [
    ...without(inBinary, declared, 'in container_probe.go and not declared'),
    ...without(declared, inBinary, 'declared and not in container_probe.go'),
    ...twice.map((name) => `${name}: twice in container_probe.go`),
  ];
}
