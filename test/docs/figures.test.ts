/** Figures in documents are those of the code. Each row has a sentence, and the constants behind its number. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { functionCapacity, splitAbove } from '../../shared/core/shards/layout.ts';
import { probeBytes, targetBytes } from '../../shared/core/shards/weight.ts';
import { probeCpuMs } from '../../shared/core/spec/handler-fields.ts';
import { baseOf, keptVectors, readVectors, vectorFiles } from '../conformance/vector-files.ts';
import { cases } from '../e2e/kubernetes/cases.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const product = execFileSync('git', ['ls-files', 'shared', 'functions'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: read(path) }));

/** The only constant of that name in a folder, exported or not, if it is a product of numbers. */
function constant(name: string, folder = ''): number {
  const pattern = new RegExp(`^(?:export )?const ${name}(?:: number)? = ([\\d_ .*/]+);`, 'gm');
  const found = product.flatMap(({ path, text }) => (path.startsWith(folder) ? [...text.matchAll(pattern)] : []));
  assert.equal(found.length, 1, `${found.length} constants are named ${name}`);
  const [, text = ''] = found[0] ?? [];
  const [first = '', ...rest] = text.replaceAll('_', '').split(/(?=[*/])/);
  const times = (value: number, part: string) =>
    part.startsWith('*') ? value * Number(part.slice(1)) : value / Number(part.slice(1));
  return rest.reduce(times, Number(first));
}

const seconds = (name: string, folder?: string): number => constant(name, folder) / 1_000;
const minutes = (name: string): number => constant(name) / 60_000;
const percent = (name: string): number => constant(name) * 100;
const kib = (name: string, folder?: string): number => constant(name, folder) / 1_024;

/** Its item, its event twice and the fence, where each commit is in a bucket of its own. */
const commitsASecond = (): number => (constant('transactionsPerSecondMax') * constant('operationsMax')) / 4;

/** Targets with a probe each 10 s that one shard of the smallest function holds before it is split. */
const targetsOfShard = (cpuMs: number): number => (splitAbove * functionCapacity.cpu * 10_000) / cpuMs;
/** The same, however seldom they are probed, but for the text of their specs. */
const seldomOfShard = (): number => (splitAbove * functionCapacity.memory) / (targetBytes + probeBytes);

const roundedTo = (step: number, value: number): number => Math.round(value / step) * step;

const vectorsOf = (family: string): number => {
  const file = vectorFiles(keptVectors).find((path) => baseOf(path) === family);
  return file === undefined ? 0 : readVectors(join(keptVectors, file)).length;
};

type Figure = readonly [sentence: RegExp, expected: () => number];

const figures: Readonly<Record<string, readonly Figure[]>> = {
  'docs/architecture.md': [[/(\S+) s since the start of the last beat/, () => seconds('selfFenceMs')]],
  'docs/design/probing.md': [
    [/between (\S+) and one period/, () => constant('gapMin')],
    [/one period and (\S+) s, until/, () => seconds('stepLateMs')],
  ],
  'docs/design/storage.md': [
    [/Transactions have at most (\S+) operations/, () => constant('operationsMax')],
    [/at most (\S+) begin in a second/, () => constant('transactionsPerSecondMax')],
    [/so that is (\S+) commits a second/, commitsASecond],
    [/A bucket rests (\S+) ms for each operation/, () => constant('operationMs')],
    [/takes longer than (\S+) ms halves/, () => constant('slowMs')],
    [/each transaction that is written adds (\S+)\. Beats/, () => constant('perSecondMore')],
    [/Beats are repeated at least every (\S+) ms/, () => constant('throttledPauseMsMax')],
    [/At the end of a slot commits have (\S+) s/, () => seconds('lastCommitsMs')],
    [/Every (\S+) s, and at the end of a run/, () => seconds('checkpointIntervalMs')],
    [/Everything is read again every (\S+) min/, () => minutes('fullReloadIntervalMs')],
    [/There are (\S+) buckets in every deployment/, () => constant('bucketCount')],
  ],
  'docs/design/holding.md': [
    [/weighs the targets for at most (\S+) s/, () => seconds('weighingMsMax')],
    [/Above (\S+) % of one holder's capacity/, () => percent('splitAbove')],
    [/one below (\S+) % and both/, () => percent('mergeBelow')],
    [/both together below (\S+) %/, () => percent('mergedBelow')],
    [/A slot is (\S+) minutes/, () => minutes('residentSlotMs')],
    [/sent from (\S+) minutes before it begins/, () => minutes('residentLeadMs')],
    [/a second time (\S+) s later/, () => seconds('lookAgainMs', 'shared/core')],
    [/or the rescue is older than (\S+) s/, () => seconds('rescueAgeMsMax')],
    [/after its last beat, or after (\S+) s/, () => seconds('leaveMaxMs')],
    [/the lease of its message, (\S+) s/, () => seconds('visibilityMs', 'shared/holder')],
    [/of its message, \S+ s, every (\S+) s/, () => seconds('beatIntervalMs')],
    [/A poll waits at most (\S+) s/, () => seconds('pollMsMax')],
  ],
  'docs/design/self-check.md': [
    [/A canary has (\S+) ms/, () => constant('canaryTimeoutMs')],
    [/at most one begins in (\S+) ms/, () => constant('checkIntervalMs')],
    [/against monotonic time by more than (\S+) s/, () => seconds('clockJumpMs')],
    [/becomes a doubt only after (\S+) s/, () => seconds('shortageMsMax')],
    [/A stall of (\S+) ms or more/, () => constant('stallMinMs')],
    [/all probes begin more than (\S+) s late/, () => seconds('lateAfterMs')],
    [/waits at most (\S+) s for an answer/, () => seconds('answerMsMax')],
    [/may turn within (\S+) s, at an even pace/, () => seconds('surgeRampMs')],
    [/Probes with a period above (\S+) s/, () => seconds('heldPeriodMsMax')],
  ],
  'docs/design/status.md': [
    [/Every\s+(\S+) s it reads only the targets/, () => seconds('againIntervalMs')],
    [/An entry younger than (\S+) s/, () => seconds('writersOwnMs')],
    [/the outbox stays below (\S+) KiB/, () => kib('outboxBytesMax')],
    [/last done more than (\S+) s and more than/, () => seconds('staleAfterMsMin')],
    [/for its period and (\S+) s was last done/, () => seconds('behindAfterMs')],
    [/last done, at most (\S+) of them/, () => constant('behindMax')],
    [/repeated\s+after (\S+) s, /, () => seconds('requestAgainFirstMs')],
    [/so on up to (\S+) s while/, () => seconds('requestAgainMaxMs')],
    [/report stays up to (\S+) s longer/, () => seconds('endReportMs')],
    [/a budget of (\S+) entries at once/, () => constant('burst')],
  ],
  'docs/design/limits.md': [
    [/one budget of (\S+) descriptors/, () => constant('descriptorsMax')],
    [/The first (\S+) KiB of a connection/, () => kib('ordinaryBytesMax')],
    [/in pieces of (\S+) KiB; all/, () => kib('pieceBytes', 'shared/net')],
    [/Beyond that one probe may keep (\S+) KiB/, () => kib('ofOneProbeBytesMax')],
    [/and all together (\S+) MiB/, () => kib('sharedBytesMax') / 1_024],
    [/at most (\S+) KiB from the server/, () => kib('handshakeBytesMax')],
  ],
  'docs/design/protocols.md': [
    [/the other family (\S+) ms later/, () => constant('fallbackDelayMs')],
    [/even share of the time, at least (\S+) s/, () => seconds('addressMsMin')],
  ],
  'docs/reliability.md': [
    [/a holder commits (\S+) a second/, commitsASecond],
    [/the surge limit \| (\S+) s/, () => seconds('surgeRampMs')],
    [/the look of a second place \| (\S+) s/, () => seconds('answerMsMax')],
    [/with kubelet's texts \| (\S+) \|/, () => cases.length],
  ],
  'docs/operating.md': [
    [/worth: about (\S+) HTTPS or/, () => roundedTo(100, targetsOfShard(probeCpuMs.https))],
    [/HTTPS or (\S+) HTTP targets each 10 s a shard/, () => roundedTo(100, targetsOfShard(probeCpuMs.http))],
    [/a shard of 256 MB, and (\S+) however seldom/, () => roundedTo(1_000, seldomOfShard())],
  ],
  'docs/scale.md': [
    [/CPU is the limit, at (\S+) targets a bucket/, () => Math.round(targetsOfShard(probeCpuMs.http))],
    [/it is memory, at (\S+) a bucket/, () => roundedTo(1_000, seldomOfShard())],
  ],
  'docs/glossary.md': [
    [/hold a shard: (\S+) minutes/, () => minutes('residentSlotMs')],
    [/The write of RUN every (\S+) s/, () => seconds('beatIntervalMs')],
  ],
  'SECURITY.md': [[/in all at most (\S+) MiB beyond/, () => kib('sharedBytesMax') / 1_024]],
  'docs/threats.md': [[/tested against (\S+) exchanges recorded/, () => vectorsOf('wire-h2')]],
};

describe('a figure is that of the code in', () => {
  for (const [path, rows] of Object.entries(figures))
    describe(path, () => {
      const text = read(path).replaceAll(/\s+/g, ' ');
      for (const [sentence, expected] of rows)
        test(sentence.source, () => {
          const [, figure] = sentence.exec(text) ?? [];
          assert.ok(figure !== undefined, 'the sentence is gone');
          assert.equal(Number(figure.replaceAll(',', '')), expected());
        });
    });
});
