/** `probelet/cdk` in a user's app, and the types of all exports. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { functionNames } from '../../../functions/bundling.ts';
import { writeBundle } from '../../../functions/write-bundle.ts';
import type { Tally } from '../../support/tally.ts';
import { goldenTemplate, normalisedTemplate } from '../../support/write-template.ts';
import { type Installed, linkPackages, root } from './installed.ts';

const peers = ['aws-cdk-lib', 'constructs'];

type Template = { readonly Resources: Readonly<Record<string, unknown>>; readonly Parameters?: object };

/** With the feature flags of `cdk.json`, as `cdk synth` hands them to an app. */
export function judgeConstruct({ folder, run }: Installed, verdict: Tally['verdict']): void {
  linkPackages(folder, peers);
  const { context } = JSON.parse(readFileSync(join(root, 'cdk.json'), 'utf8'));
  // What the CDK says about itself stays out of the template.
  const plain = { ...context, 'aws:cdk:disable-version-reporting': true, 'aws:cdk:disable-asset-staging': true };
  const output = join(folder, 'cdk.out');
  const quiet = { ...plain, 'aws:cdk:enable-path-metadata': false, 'aws:cdk:enable-asset-metadata': false };
  const { status, err } = run('node', ['app.ts'], { CDK_OUTDIR: output, CDK_CONTEXT_JSON: JSON.stringify(quiet) });
  verdict('an app with the construct is synthesized without a bundler', status === 0 ? [] : [err]);
  if (status !== 0) return;
  const golden = JSON.parse(readFileSync(goldenTemplate, 'utf8')) as Template;
  const template = normalisedTemplate(
    JSON.parse(readFileSync(join(output, 'Probelet.template.json'), 'utf8')),
  ) as Template;
  verdict(
    'its resources are those of the golden template, with the hashes of the code left out',
    differences(golden, template),
  );
  verdict(
    'its functions are what a clone deploys',
    functionNames.filter((name) => !isSameCode(folder, name)),
  );
}

const differences = (golden: Template, { Resources }: Template): readonly string[] => {
  const ids = new Set([...Object.keys(golden.Resources), ...Object.keys(Resources)]);
  return [...ids].filter((id) => !isDeepStrictEqual(golden.Resources[id], Resources[id]));
};

function isSameCode(folder: string, name: (typeof functionNames)[number]): boolean {
  const made = join(folder, 'bundles', name);
  writeBundle(name, made);
  const packed = join(folder, 'node_modules/probelet/lambda', name);
  return ['index.mjs', 'index.mjs.map'].every((file) =>
    readFileSync(join(made, file)).equals(readFileSync(join(packed, file))),
  );
}

/** Without `skipLibCheck`, so that the declarations of the package are judged too. */
export function judgeTypes({ folder, run }: Installed, verdict: Tally['verdict']): void {
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    strict: true,
    noEmit: true,
    types: [],
    skipLibCheck: false,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  const { status, out } = run(join(root, 'node_modules/.bin/tsc'), ['-p', '.']);
  verdict('the types of all exports compile', status === 0 ? [] : out.split('\n'));
}
