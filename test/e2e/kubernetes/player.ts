/** Plays cases side by side, and judges each: Kubernetes' own assertions first, then the texts of its events. */
import { type Case, cases, type Names, undeclared } from './cases.ts';
import type { Cluster, Namespace } from './cluster.ts';
import type { Ginkgo, Outcome } from './ginkgo.ts';
import type { PodWorker } from './pod-worker.ts';
import { containersOf, isSidecar, probeFields } from './spec.ts';
import { type Texts, textFaults } from './texts.ts';
import type { Lifecycle } from './translation.ts';

export type Chosen = { readonly lifecycle: Lifecycle; readonly only: string; readonly isSlice: boolean };

export const chosenOf = ({ lifecycle, only, isSlice }: Chosen): readonly Case[] =>
  cases.filter(
    ({ name, isLong, notStatic }) =>
      name.includes(only) && !(isSlice && isLong) && !(lifecycle === 'static' && notStatic !== undefined),
  );

export type Played = {
  readonly name: string;
  readonly seconds: number;
  readonly faults: readonly string[];
  /** probelet's own texts that differ as declared. */
  readonly declared: readonly string[];
};

export type Stage = {
  readonly ginkgo: Ginkgo;
  readonly cluster: Cluster;
  /** The address of the cluster's API. */
  readonly server: string;
  readonly lifecycle: Lifecycle;
  /** What runs the command of an exec probe in the container of this name in the Pod of this uid. */
  readonly execIn: (uid: string, container: string) => readonly string[];
};

/**
 * Plays them all at once; they are started one by one, those that take longest first. Returns where the binary has
 * other cases than are declared.
 */
export async function playAll(
  stage: Stage,
  chosen: readonly Case[],
  told: (played: Played) => void,
): Promise<readonly string[]> {
  const listed = await stage.ginkgo.list();
  const playing: Promise<void>[] = [];
  for (const each of chosen.toSorted((a, b) => Number(b.isLong) - Number(a.isLong))) {
    const line = listed.find(({ name }) => name === each.name)?.line;
    if (line === undefined) continue;
    const begun = stage.cluster.nextNamespace();
    const outcome = stage.ginkgo.play(line, stage.server);
    const namespace = await Promise.race([begun, outcome.then(() => undefined)]);
    playing.push(outcome.then((ended) => told(judge(stage, each, ended, namespace))));
  }
  await Promise.all(playing);
  const names = (some: readonly { readonly name: string }[]) => some.map(({ name }) => name);
  return undeclared(names(listed), names(cases));
}

const messageLinesMax = 12;

function judge(stage: Stage, { name, texts, possible }: Case, outcome: Outcome, namespace?: Namespace): Played {
  const { state, message, seconds } = outcome;
  const lines = message.split('\n').slice(0, messageLinesMax);
  const asserted = state === 'passed' ? [] : [`${state}: ${lines.join('\n       ')}`];
  const pod = namespace?.pods[0];
  if (namespace === undefined || pod === undefined)
    return { name, seconds, faults: [...asserted, 'no Pod was created'], declared: [] };
  const names = namesIn(stage, pod);
  const judged: Texts = {
    expected: texts.map((text) => text(names)),
    possible: possible.map((text) => text(names)),
    recorded: namespace.events.map(({ reason, message: text }) => `${reason}: ${text}`),
  };
  const declared = namespace.events.flatMap(({ said }) => said ?? []);
  return { name, seconds, faults: [...asserted, ...textFaults(judged, stage.lifecycle)], declared };
}

function namesIn({ execIn }: Stage, { pod, podIP }: PodWorker): Names {
  const { spec, metadata } = pod;
  const probed = containersOf(spec).find((container) => probeFields.some((field) => container[field]));
  const container = probed?.name ?? '';
  const command = (words: string) => [...execIn(metadata.uid, container), words].join(' ');
  return { container, isSidecar: isSidecar(spec, { name: container }), podIP, command };
}
