/**
 * Writes the golden templates: `node test/support/write-template.ts && biome check --write test/cdk`. Look at what
 * changed before you commit it.
 */
import { writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { Template } from 'aws-cdk-lib/assertions';
import { ProbeletStack } from '../../cdk/probelet-stack.ts';
import type { ProbeletProps } from '../../cdk/props.ts';
import { quickApp, type TemplateJson } from './synthesized.ts';

export const goldenTemplate = new URL('../cdk/probelet.template.json', import.meta.url);
export const tasksTemplate = new URL('../cdk/tasks.template.json', import.meta.url);

/** A fleet that tasks hold. */
const tasks: ProbeletProps = { compute: 'fargate', fleet: [{ targets: 10_000, periodSeconds: 10, probe: 'https' }] };

const templateOf = (props?: ProbeletProps): object =>
  Template.fromStack(new ProbeletStack(quickApp(), 'Probelet', props)).toJSON();

/** What the default deployment is, but for its code. */
export function normalisedTemplate(template: object = templateOf()): unknown {
  const json = JSON.stringify(template);
  return JSON.parse(
    json
      .replaceAll(/[0-9a-f]{64}(?=\.zip|")/g, 'code')
      .replaceAll(/"\d+\.\d+\.\d+-[0-9a-f]{12}"/g, '"release"')
      .replaceAll(/(?<=CurrentVersion[0-9A-F]{8})[0-9a-f]{32}/g, 'code'),
  );
}

/** Only what tasks add to the default deployment, or change in it. */
export function normalisedTasks(): unknown {
  const { Resources: plain } = normalisedTemplate() as TemplateJson;
  const { Resources } = normalisedTemplate(templateOf(tasks)) as TemplateJson;
  return Object.fromEntries(Object.entries(Resources).filter(([id, one]) => !isDeepStrictEqual(one, plain[id])));
}

const write = (file: URL, json: unknown): void => writeFileSync(file, `${JSON.stringify(json, null, 2)}\n`);

if (import.meta.main) {
  write(goldenTemplate, normalisedTemplate());
  write(tasksTemplate, normalisedTasks());
}
