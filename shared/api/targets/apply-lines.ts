/**
 * Puts the manifest of each line as it arrives, some at once, and streams an answer for each, in the order of the
 * lines. A refused line does not stop the others.
 */

import { inTurn } from '../../lib/in-turn.ts';
import { pacer, sliceMs } from '../../lib/slices.ts';
import type { BodyLine } from '../http/body-lines.ts';
import { problemOfError } from '../http/failure.ts';
import { parseJson } from '../http/json.ts';
import { brokenOff, type Checked, ok, type Problem, problem, problemDocument } from '../http/problem.ts';
import type { ApiDeps } from '../ports/deps.ts';
import { decodeNamedManifest, nameIn, namespaceIn } from '../schema/decode-manifest.ts';
import { answerBytesMax, nameTwice } from './apply-manifests.ts';
import { notBegun, type PutMark, putManifest, putMark, putsMsMax } from './put-manifest.ts';

/** Enough that the writes of a turn share a transaction, too few to keep other requests waiting. */
export const linesAtOnce = 64;

export type AppliedLine = {
  /** From 1. */
  readonly line: number;
  readonly namespace?: string;
  readonly name?: string;
  readonly status: number;
  /** Absent if there is a problem. */
  readonly change?: PutMark['change'];
  readonly warning?: string;
  readonly problem?: ReturnType<typeof problemDocument>;
};

/**
 * The answers, a line of JSON each. They do not wait for the client, which may not read before it has sent everything;
 * what waits is at most the whole answer, which is bounded. When the client goes away, no further line is begun.
 */
export function appliedLines(
  deps: ApiDeps,
  lines: AsyncIterable<BodyLine>,
  dryRun: boolean,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const encoder = new TextEncoder();
      const bounded = boundedLines();
      const take = (applied: AppliedLine) => {
        if (!gone.signal.aborted) controller.enqueue(encoder.encode(bounded(applied)));
      };
      const end = () => {
        if (!gone.signal.aborted) controller.close();
      };
      const work = lineApplier(deps, dryRun);
      void inTurn(until(lines, gone.signal), { atOnce: linesAtOnce, work, take }).then(end);
    },
    cancel: () => gone.abort(),
  });
}

async function* until(lines: AsyncIterable<BodyLine>, end: AbortSignal): AsyncGenerator<BodyLine> {
  for await (const line of lines) {
    if (end.aborted) return;
    yield line;
  }
}

function lineApplier(deps: ApiDeps, dryRun: boolean): (line: BodyLine) => Promise<AppliedLine> {
  const { clock } = deps;
  const endMs = clock.monotonicMs() + putsMsMax;
  const pause = deps.pause ?? pacer(clock, sliceMs);
  const isTwice = repetitions();
  return async ({ number, text }) => {
    const isGone = await pause().then(
      () => false,
      () => true,
    );
    if (isGone) return { line: number, ...refusal(brokenOff) };
    const body = parsedLine(text);
    if (body.kind === 'problem') return { line: number, ...refusal(body) };
    const named = namedIn(body.value);
    const outcome = isTwice(named)
      ? nameTwice
      : clock.monotonicMs() > endMs
        ? notBegun
        : await putLine(deps, body.value, dryRun);
    return { line: number, ...named, ...(outcome.kind === 'problem' ? refusal(outcome) : outcome.mark) };
  };
}

const refusal = (refused: Problem) => ({ status: refused.status, problem: problemDocument(refused) });

/** The name of the target as far as the body has it. */
function namedIn(body: unknown): { readonly namespace?: string; readonly name?: string } {
  const [namespace, name] = [namespaceIn(body), nameIn(body)];
  return { ...(namespace !== undefined && { namespace }), ...(name !== undefined && { name }) };
}

/** Whether the target was named before. Two lines of one target would be put at once, in no order. */
function repetitions(): (named: ReturnType<typeof namedIn>) => boolean {
  const named = new Set<string>();
  return ({ namespace, name }) => {
    if (namespace === undefined || name === undefined) return false;
    const before = named.size;
    return named.add(`${namespace}/${name}`).size === before;
  };
}

function parsedLine(text: Checked<string>): Checked<unknown> {
  if (text.kind === 'problem') return text;
  const parsed = parseJson(text.value);
  return parsed.kind === 'parsed' ? ok(parsed.documents[0]) : problem(400, 'malformed-body', parsed.reason);
}

async function putLine(
  deps: ApiDeps,
  body: unknown,
  dryRun: boolean,
): Promise<{ readonly kind: 'put'; readonly mark: PutMark } | Problem> {
  try {
    const manifest = decodeNamedManifest(body, namespaceIn(body));
    if (manifest.kind === 'problem') return manifest;
    const outcome = await putManifest(deps, body, manifest.value, dryRun);
    return outcome.kind === 'problem'
      ? outcome
      : { kind: 'put', mark: putMark(body, manifest.value, outcome, deps.advise) };
  } catch (error) {
    return problemOfError(deps.log, error);
  }
}

/** Once the answer is full, a line has only its number, its status and a problem without the list of errors. */
function boundedLines(): (applied: AppliedLine) => string {
  let bytes = 0;
  return (applied) => {
    const whole = lineText(applied);
    bytes += Buffer.byteLength(whole);
    if (bytes <= answerBytesMax) return whole;
    const { line, status, problem: full } = applied;
    if (!full) return lineText({ line, status });
    const { errors: _, ...short } = full;
    return lineText({ line, status, problem: short });
  };
}

const lineText = (applied: AppliedLine): string => `${JSON.stringify(applied)}\n`;
