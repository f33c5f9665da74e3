/**
 * Writes the golden template: `node test/support/write-template.ts && biome check --write test/cdk`. Look at what
 * changed before you commit it.
 */
import { writeFileSync } from 'node:fs';
import { Template } from 'aws-cdk-lib/assertions';
import { ProbeletStack } from '../../cdk/probelet-stack.ts';
import { quickApp } from './synthesized.ts';

export const goldenTemplate = new URL('../cdk/probelet.template.json', import.meta.url);

/** What the default deployment is, but for its code. */
export function normalisedTemplate(
  template: object = Template.fromStack(new ProbeletStack(quickApp(), 'Probelet')).toJSON(),
): unknown {
  const json = JSON.stringify(template);
  return JSON.parse(
    json.replaceAll(/[0-9a-f]{64}(?=\.zip)/g, 'code').replaceAll(/"\d+\.\d+\.\d+-[0-9a-f]{12}"/g, '"release"'),
  );
}

if (import.meta.main) writeFileSync(goldenTemplate, `${JSON.stringify(normalisedTemplate(), null, 2)}\n`);
