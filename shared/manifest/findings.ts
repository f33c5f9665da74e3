/** The findings in the targets of a file, each with the place of its field, and their log of SARIF 2.1.0. */
import { type Finding, lintRules, lintSpec } from '../core/spec/lint.ts';
import type { ConvertedTarget, FileError, FilePlace } from './convert.ts';
import { valueAt } from './values.ts';

export type FileFinding = FilePlace &
  Omit<Finding, 'pointer'> & {
    /** The field in the file, as a path in its document. */
    readonly field: string;
  };

export const findingsOf = (target: ConvertedTarget): readonly FileFinding[] =>
  lintSpec(target.spec).map(({ pointer, ...finding }) => {
    const written = asWritten(pointer, target);
    return { ...target.placeOf(written), ...finding, field: target.fieldOf(written) };
  });

/** The pointer as the file has it: in the short form, the probes of the one container stand at the top of the spec. */
function asWritten(pointer: string, { manifest }: ConvertedTarget): string {
  const isShort = valueAt(manifest, ['spec', 'containers', 0]) === undefined;
  return isShort ? pointer.replace('/spec/containers/0/', '/spec/') : pointer;
}

/** The rule that a file breaks if it cannot be converted. */
const invalidRule = {
  id: 'invalid-manifest',
  shortDescription: { text: 'The file is no manifest that the API accepts.' },
  defaultConfiguration: { level: 'error' },
} as const;

const rules = [
  invalidRule,
  ...Object.entries(lintRules).map(([id, { severity, summary }]) => ({
    id,
    shortDescription: { text: summary },
    defaultConfiguration: { level: severity },
  })),
];

/**
 * A log of SARIF, which code hosts and editors show beside the lines, as a JSON value. Files are named as the caller
 * gave them, so a relative name is relative to the caller's folder.
 */
export function sarifLog(findings: readonly FileFinding[], errors: readonly FileError[]) {
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'probelet', rules } },
        columnKind: 'utf16CodeUnits',
        results: [...errors.map(errorResult), ...findings.map(findingResult)],
      },
    ],
  } as const;
}

const errorResult = (error: FileError) => ({
  ...ruleOf(invalidRule.id),
  level: 'error',
  message: { text: error.field === undefined ? `The document ${error.detail}.` : `${error.field} ${error.detail}.` },
  ...locationOf(error),
});

const findingResult = (finding: FileFinding) => ({
  ...ruleOf(finding.rule),
  level: finding.severity,
  message: { text: `${finding.field} ${finding.reason}. Mend: ${finding.mend}.` },
  ...locationOf(finding),
});

const ruleOf = (ruleId: string) => ({ ruleId, ruleIndex: rules.findIndex(({ id }) => id === ruleId) });

const locationOf = ({ file, line, column }: FilePlace) => ({
  locations: [
    {
      physicalLocation: {
        artifactLocation: { uri: encodeURI(file.replaceAll('\\', '/')) },
        region: { startLine: line, startColumn: column },
      },
    },
  ],
});
