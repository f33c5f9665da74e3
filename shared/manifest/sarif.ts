/** Findings and errors of files as a log of SARIF 2.1.0, which code hosts and editors show beside the lines. */
import { lintRules } from '../core/spec/lint.ts';
import type { FileError, FilePlace } from './convert.ts';
import type { FileFinding } from './findings.ts';

export type LintResults = { readonly findings: readonly FileFinding[]; readonly errors: readonly FileError[] };

/** The rule of what cannot be converted. */
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

/** A JSON value. Files are named as they were given; those are relative to the folder of the caller, if they are so. */
export function sarifLog({ findings, errors }: LintResults) {
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
