/** The findings in the targets of a file, each with the place of its field. */
import { type Finding, lintSpec } from '../core/spec/lint.ts';
import type { ConvertedTarget, FilePlace } from './convert.ts';
import { valueAt } from './values.ts';

export type FileFinding = FilePlace &
  Omit<Finding, 'pointer'> & {
    /** Of the file, as a path in its document. */
    readonly field: string;
  };

export const findingsOf = (target: ConvertedTarget): readonly FileFinding[] =>
  lintSpec(target.spec).map(({ pointer, ...finding }) => {
    const written = asWritten(pointer, target);
    return { ...target.placeOf(written), ...finding, field: target.fieldOf(written) };
  });

/** In the short form of a target, the probes of its one container stand at the top of the spec. */
function asWritten(pointer: string, { manifest }: ConvertedTarget): string {
  const isShort = valueAt(manifest, ['spec', 'containers', 0]) === undefined;
  return isShort ? pointer.replace('/spec/containers/0/', '/spec/') : pointer;
}
