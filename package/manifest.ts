/** The `package.json` of the npm package, made of that of the repository. */

/** What of the repository's `package.json` the package needs. */
export type RepositoryManifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly repository?: unknown;
  readonly engines: object;
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
};

type Versions = { readonly [name: string]: string };

/** The exports, by their names without `./`. The file in this folder with that name is what each exports. */
const exported = ['cdk', 'client', 'events'] as const;

/** The first two are for `probelet/cdk`, and an app of the CDK has them; the last is for alerts by mail. */
const optionalPeers = ['aws-cdk-lib', 'constructs', 'nodemailer'] as const;

/** `imported`: the packages that the compiled code imports. @throws if it imports one that cannot be installed */
export function packageManifest(repository: RepositoryManifest, imported: ReadonlySet<string>) {
  const { name, version, description, license, engines, dependencies, devDependencies } = repository;
  const needed = [...imported].filter((each) => !optionalPeers.some((peer) => peer === each)).sort();
  const unknown = needed.filter((each) => dependencies[each] === undefined);
  if (unknown.length > 0) throw new Error(`the package imports ${unknown.join(', ')}: add it to the dependencies`);
  return {
    ...{ name, version, description, license },
    ...(repository.repository !== undefined && { repository: repository.repository }),
    type: 'module',
    engines,
    bin: { probelet: 'functions/cli/main.js' },
    exports: Object.fromEntries(exported.map((each) => [`./${each}`, entry(each)])),
    imports: { '#function-code': './cdk/packed-code.js' },
    dependencies: Object.fromEntries(needed.map((each) => [each, `${rangeOf(each)}${dependencies[each]}`])),
    peerDependencies: Object.fromEntries(
      optionalPeers.map((each) => [each, `^${devDependencies[each] ?? dependencies[each]}`]),
    ),
    peerDependenciesMeta: Object.fromEntries(optionalPeers.map((each) => [each, { optional: true }])),
  };
}

/**
 * The AWS SDK depends on packages of Smithy by ranges. Where one is pinned, npm installs the newer one below each
 * package of the SDK: ten copies, 70 MB. All else has the version that was tested.
 */
const rangeOf = (name: string): string => (name.startsWith('@smithy/') ? '^' : '');

/** Apps of the CDK are mostly CommonJS, and so is their jest. Other programs can require ES modules, as Node does. */
const entry = (name: (typeof exported)[number]) => {
  const module = { types: `./package/${name}.d.ts`, default: `./package/${name}.js` };
  return name === 'cdk'
    ? { import: module, require: { types: './commonjs/cdk.d.ts', default: './commonjs/cdk.js' } }
    : module;
};
