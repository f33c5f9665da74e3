/** How a runner reports what differed. */
import { AssertionError, deepStrictEqual } from 'node:assert/strict';

const linesMax = 14;

/** `undefined` when equal, else where, actual and expected in a few lines. */
export function compare(where: string, actual: unknown, expected: unknown): string | undefined {
  try {
    deepStrictEqual(actual, expected);
    return undefined;
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    const lines = error.message.split('\n').slice(1);
    const more = lines.length > linesMax ? [`… ${lines.length - linesMax} lines more`] : [];
    return [where, ...lines.slice(0, linesMax), ...more].join('\n');
  }
}
