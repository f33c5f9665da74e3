/** The reporter of `npm test`: what failed and why, a line per file, the totals at the end. */
import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

type Totals = { passed: number; failed: number };
type Outcome = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>['data'];

export default async function* reporter(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const totals: Totals = { passed: 0, failed: 0 };
  const files = new Map<string, Totals>();
  for await (const event of source) {
    if (event.type === 'test:stderr') yield event.data.message;
    if (event.type !== 'test:pass' && event.type !== 'test:fail') {
      if (event.type === 'test:summary' && event.data.file) yield fileLine(event.data.file, files.get(event.data.file));
      continue;
    }
    if (isSuite(event.data)) continue;
    const count = event.type === 'test:pass' ? 'passed' : 'failed';
    totals[count] += 1;
    const file = files.get(event.data.file ?? '') ?? { passed: 0, failed: 0 };
    file[count] += 1;
    files.set(event.data.file ?? '', file);
    if (event.type === 'test:fail') yield failure(event.data);
  }
  yield `${totals.passed} passed, ${totals.failed} failed\n`;
}

const isSuite = (outcome: Outcome): boolean => outcome.details.type === 'suite';

const fileLine = (file: string, totals: Totals = { passed: 0, failed: 0 }): string =>
  `${totals.failed > 0 ? 'FAIL' : 'ok  '} ${relative(process.cwd(), file)}  ${totals.passed} passed${totals.failed > 0 ? `, ${totals.failed} failed` : ''}\n`;

function failure({ name, file, line, details }: Extract<TestEvent, { type: 'test:fail' }>['data']): string {
  const cause = details.error.cause instanceof Error ? details.error.cause : details.error;
  return `\nFAILED ${name} (${relative(process.cwd(), file ?? '')}:${line ?? 0})\n${cause.stack ?? cause.message}\n\n`;
}
