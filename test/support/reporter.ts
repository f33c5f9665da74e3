/** The reporter of `npm test`: what failed and why, a line per file, the totals at the end. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

type Totals = { passed: number; failed: number };
type Outcome = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: Totals = { passed: 0, failed: 0 };
  for await (const event of source) {
    if (event.type === 'test:stderr') yield event.data.message;
    if (event.type !== 'test:pass' && event.type !== 'test:fail') {
      // Its own counts: of a shared contract each test names the contract's file.
      if (event.type === 'test:summary' && event.data.file) yield fileLine(event.data.file, event.data.counts);
      continue;
    }
    if (isSuite(event.data)) continue;
    totals[event.type === 'test:pass' ? 'passed' : 'failed'] += 1;
    if (event.type === 'test:fail') yield failure(event.data);
  }
  yield `${totals.passed} passed, ${totals.failed} failed\n`;
}

const isSuite = (outcome: Outcome): boolean => outcome.details.type === 'suite';

type Counts = Pick<
  Extract<TestEvent, { type: 'test:summary' }>['data']['counts'],
  'tests' | 'passed' | 'skipped' | 'todo'
>;

function fileLine(file: string, { tests, passed, skipped, todo }: Counts): string {
  const failed = tests - passed - skipped - todo;
  return `${failed > 0 ? 'FAIL' : 'ok  '} ${relative(process.cwd(), file)}  ${passed} passed${failed > 0 ? `, ${failed} failed` : ''}\n`;
}

function failure({ name, file, line, details }: Extract<TestEvent, { type: 'test:fail' }>['data']): string {
  const cause = details.error.cause instanceof Error ? details.error.cause : details.error;
  return `\nFAILED ${name} (${relative(process.cwd(), file ?? '')}:${line ?? 0})\n${cause.stack ?? cause.message}\n\n`;
}
