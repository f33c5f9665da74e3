/**
 * `npm run templates`: cfn-lint judges the template of each kind of deployment by the schemas that CloudFormation has
 * in the regions that docs/operating.md names. Two templates are broken on purpose, to see that it looks.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { propNames } from '../../cdk/validate-props.ts';
import { constructedVariant, someRegion, type Variant, variants } from '../support/deployments.ts';
import { codeSpansOf, tableRowsOf } from '../support/markdown.ts';
import { pythonPrograms } from '../support/python-programs.ts';
import { quickApp, resourcesOf, type TemplateJson, templateOf } from '../support/synthesized.ts';
import { say, tallyOf } from '../support/tally.ts';

/**
 * W3005: a dependency that a reference has, too. The CDK names a role beside its policy, and CloudFormation takes both.
 */
const left = 'W3005';

const tally = tallyOf();
const folder = mkdtempSync(join(tmpdir(), 'probelet-templates-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

type Regions = { readonly withRegistry: readonly string[]; readonly withoutRegistry: readonly string[] };

/** As the two rows of the table name them. */
function namedRegions(): Regions {
  const text = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const rows = tableRowsOf(text.slice(text.indexOf('\n## Regions\n')));
  const [withRegistry = [], withoutRegistry = []] = ['yes', 'no'].map((registry) =>
    codeSpansOf(rows.find(([first]) => first === registry)?.[1] ?? ''),
  );
  return { withRegistry, withoutRegistry };
}

type Finding = {
  readonly Filename: string;
  readonly Rule: { readonly Id: string };
  readonly Message: string;
  readonly Location: { readonly Path: readonly string[] | null };
};

/** What is found in each file, by its name. */
function findings(files: readonly string[], regions: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const args = ['--format', 'json', '--ignore-checks', left, '--regions', ...regions, '--template', ...files];
  const { stdout, stderr, error } = spawnSync(pythonPrograms().cfnLint, args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (error || stderr) throw new Error('cfn-lint has not run', { cause: error ?? stderr });
  const all: readonly Finding[] = JSON.parse(stdout);
  const lines = ({ Rule, Message, Location }: Finding) => `${Rule.Id} ${Location.Path?.join('.') ?? ''}: ${Message}`;
  return new Map(
    files.map((file) => [basename(file, '.json'), all.filter((one) => one.Filename === file).map(lines)] as const),
  );
}

function written(name: string, template: TemplateJson): string {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(template));
  return file;
}

const judge = (files: readonly string[], regions: readonly string[], broken: string): void => {
  const where = regions.length === 1 ? `in ${regions[0]}` : `in ${regions.length} regions`;
  for (const [name, found] of findings(files, regions))
    if (name === broken) tally.verdict(`${name}, which is found ${where}: ${found[0]}`, found.length > 0);
    else tally.verdict(`${name}, ${where}`, found);
};

/** A template with a property that no queue has. */
function misspelt(template: TemplateJson): TemplateJson {
  const [queue] = resourcesOf(template, 'AWS::SQS::Queue');
  if (queue) Object.assign(template.Resources[queue.id]?.Properties, { FifoQueues: true });
  return template;
}

const propsOf = ({ deployment, inRegion }: Variant): object =>
  typeof deployment === 'function'
    ? deployment(new Stack(quickApp(), 'Props', inRegion && { env: someRegion }))
    : deployment;

/** Of an emulator, which has no regions. */
const ofEmulator = ['allowLoopback'];
const given = new Set([...ofEmulator, ...variants.flatMap((one) => Object.keys(propsOf(one)))]);
tally.verdict(
  'every prop is in a template',
  propNames.filter((prop) => !given.has(prop)),
);

const { withRegistry, withoutRegistry } = namedRegions();
say(`with a registry of schemas: ${withRegistry.join(' ')}`);
say(`without: ${withoutRegistry.join(' ')}`);
const templates = variants.map((variant) => ({ variant, template: templateOf(constructedVariant(variant)) }));
const filesOf = (some: typeof templates) => some.map(({ variant, template }) => written(variant.name, template));
const broken = { name: 'a property that is misspelt', file: '' };
broken.file = written(broken.name, misspelt(templateOf(constructedVariant({ name: '', deployment: {} }))));
judge([...filesOf(templates), broken.file], withRegistry, broken.name);
const withoutSchemas = templates.filter(
  ({ template }) => resourcesOf(template, 'AWS::EventSchemas::Schema').length === 0,
);
const withSchemas = written('the registry', templateOf(constructedVariant({ name: '', deployment: {} })));
judge([...filesOf(withoutSchemas), withSchemas], withoutRegistry, 'the registry');
tally.end();
