/** `probelet/cdk` in a user's app, and the types of all exports. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type BundleName, functionNames } from '../../../functions/bundling.ts';
import { writeBundle } from '../../../functions/write-bundle.ts';
import { fencesOf } from '../../support/markdown.ts';
import type { Tally } from '../../support/tally.ts';
import { goldenTemplate, normalisedTemplate } from '../../support/write-template.ts';
import { type Installed, linkPackages, root } from './installed.ts';

const peers = ['aws-cdk-lib', 'constructs'];
/** An app of the CDK has them too. */
const nodeTypes = ['@types/node', 'undici-types'];

type Template = { readonly Resources: Readonly<Record<string, unknown>>; readonly [other: string]: unknown };

/** With the feature flags of `cdk.json`, as `cdk synth` hands them to an app. */
export function judgeConstruct({ folder, run }: Installed, verdict: Tally['verdict']): void {
  linkPackages(folder, peers);
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));
  // What the CDK says about itself stays out of the template.
  const quiet = { ...context, 'aws:cdk:disable-version-reporting': true };
  const output = join(folder, 'cdk.out');
  const { status, err } = run('node', ['app.ts'], { CDK_OUTDIR: output, CDK_CONTEXT_JSON: JSON.stringify(quiet) });
  verdict('an app with the construct is synthesized without a bundler', status === 0 ? [] : [err]);
  if (status !== 0) return;
  const golden = JSON.parse(readFileSync(goldenTemplate, 'utf8')) as Template;
  const template = normalisedTemplate(
    JSON.parse(readFileSync(join(output, 'Probelet.template.json'), 'utf8')),
  ) as Template;
  verdict('its template is the golden one, with the hashes of the code left out', differences(golden, template));
  verdict(
    'its functions and its task are what a clone deploys',
    ([...functionNames, 'task'] as const).filter((name) => !isSameCode(folder, name)),
  );
}

/**
 * The golden template is of a stack with a description besides, and with other names of the outputs. Returns the ids of
 * resources.
 */
function differences(golden: Template, template: Template): readonly string[] {
  const { Resources: wanted, Description: _, Outputs: __, ...rest } = golden;
  const { Resources: found, Outputs: ___, ...others } = template;
  const ids = Object.keys({ ...wanted, ...found }).filter((id) => !isDeepStrictEqual(wanted[id], found[id]));
  return isDeepStrictEqual(others, rest) ? ids : [...ids, `beside the resources: ${JSON.stringify(others)}`];
}

function isSameCode(folder: string, name: BundleName): boolean {
  const made = join(folder, 'bundles', name);
  writeBundle(name, made);
  const packed = join(folder, 'node_modules/probelet/lambda', name);
  return ['index.mjs', 'index.mjs.map'].every((file) =>
    readFileSync(join(made, file)).equals(readFileSync(join(packed, file))),
  );
}

/** Without `skipLibCheck`, so that the declarations of the package are judged too. */
export function judgeTypes({ folder, run }: Installed, verdict: Tally['verdict']): void {
  linkPackages(folder, nodeTypes);
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    strict: true,
    noEmit: true,
    types: ['node'],
    skipLibCheck: false,
  };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['types.ts', ...documented(folder)] }),
  );
  const { status, out } = run(join(root, 'node_modules/.bin/tsc'), ['-p', '.']);
  verdict('the types of all exports compile, and the examples of the README', status === 0 ? [] : out.split('\n'));
}

/** The TypeScript of the README, as files in the folder. Returns their names. */
function documented(folder: string): readonly string[] {
  const readme = readFileSync(join(folder, 'node_modules/probelet/README.md'), 'utf8');
  return fencesOf(readme, 'ts').map((text, index) => {
    writeFileSync(join(folder, `readme-${index}.ts`), text);
    return `readme-${index}.ts`;
  });
}
