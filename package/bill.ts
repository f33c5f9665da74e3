/** The software bill of materials of the npm package: what users install beside it, as locked here. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What of a bill the list of licences needs. */
export type Bill = {
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly licenses?: readonly Licence[];
  }[];
};

type Licence = { readonly license: { readonly id?: string; readonly name?: string } } | { readonly expression: string };

type Lock = { readonly packages: { readonly [path: string]: LockedPackage } };
type LockedPackage = { readonly dev?: true; readonly optional?: true; readonly devOptional?: true };

type PeerManifest = LockedPackage & { readonly peerDependenciesMeta: object };

/** A hundred packages take about 100 KB. */
const outputBytesMax = 16 * 1024 * 1024;

/**
 * In CycloneDX, of the built package and the clone's lock file. It asks npm about a folder without tools: of the clone
 * itself, `npm sbom --omit=dev` leaves out whatever a tool needs too.
 */
export function billOfMaterials(root: string): Bill {
  const manifest = readFileSync(join(root, 'dist/package/package.json'), 'utf8');
  const { name } = JSON.parse(manifest);
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const temporary = mkdtempSync(join(tmpdir(), 'probelet-bill-'));
  // npm takes the name of the product from the folder.
  const folder = join(temporary, name);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), manifest);
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lockOf(lock, JSON.parse(manifest))));
    const options = ['--package-lock-only', '--sbom-format=cyclonedx'];
    return JSON.parse(
      execFileSync('npm', ['sbom', ...options], { cwd: folder, encoding: 'utf8', maxBuffer: outputBytesMax }),
    );
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Without tools, and without optional peers, which users install themselves. */
function lockOf(lock: Lock, manifest: PeerManifest): Lock {
  const peers = Object.keys(manifest.peerDependenciesMeta).map((name) => `node_modules/${name}`);
  const others = Object.entries(lock.packages).filter(
    ([path, { dev, optional, devOptional }]) =>
      path !== '' && !peers.includes(path) && !dev && !optional && !devOptional,
  );
  return { ...lock, packages: Object.fromEntries([['', manifest], ...others]) };
}

/** A line for each package. @throws if one names no licence */
export const licenceList = ({ components }: Bill): string =>
  components
    .map(({ name, version, licenses = [] }) => {
      const [licence] = licenses.map(licenceName);
      if (licence === undefined) throw new Error(`${name} ${version} names no licence: replace it`);
      return `${name} ${version}: ${licence}\n`;
    })
    .join('');

function licenceName(licence: Licence): string | undefined {
  return 'expression' in licence ? licence.expression : (licence.license.id ?? licence.license.name);
}
