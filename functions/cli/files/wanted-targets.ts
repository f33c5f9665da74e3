/** The targets of all files together: in the namespace of the command line, and each only once. */
import type { Conversion, ConvertedTarget, FileError, FilePlace } from '../../../shared/manifest/convert.ts';
import type { Connection } from '../server/connection.ts';
import { CliError } from '../words/exit-codes.ts';
import { placeText } from './manifest-files.ts';

/** Targets of one command line. Each takes about 13 KB, most of it for its places in the file. */
const wantedTargetsMax = 50_000;

/**
 * The conversions, where a file is invalid too if it names another namespace than the command line, or a target that an
 * earlier file has: which of the two is meant is not known. @throws CliError for too many
 */
export function checkedTogether(
  conversions: readonly Conversion[],
  connection: Pick<Connection, 'namespace' | 'isNamespaceGiven'>,
): readonly Conversion[] {
  const seen = new Map<string, FilePlace>();
  return conversions.map((conversion) => {
    if (conversion.kind === 'invalid') return conversion;
    const { targets } = conversion;
    const errors = targets.flatMap((target) => [
      ...namespaceErrors(target, connection),
      ...twiceErrors(target, seen.get(qualifiedName(target))),
    ]);
    if (errors.length > 0) return { kind: 'invalid', errors };
    for (const target of targets) seen.set(qualifiedName(target), target.placeOf('/metadata/name'));
    if (seen.size > wantedTargetsMax)
      throw new CliError(`there are more than ${wantedTargetsMax} targets: name some of the files at a time`);
    return conversion;
  });
}

export const qualifiedName = ({ namespace, name }: Pick<ConvertedTarget, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

export const targetsOf = (conversions: readonly Conversion[]): readonly ConvertedTarget[] =>
  conversions.flatMap((each) => (each.kind === 'converted' ? each.targets : []));

function namespaceErrors(
  { namespace, placeOf, fieldOf }: ConvertedTarget,
  connection: Pick<Connection, 'namespace' | 'isNamespaceGiven'>,
): readonly FileError[] {
  if (!connection.isNamespaceGiven || namespace === connection.namespace) return [];
  const pointer = '/metadata/namespace';
  const detail = `must be ${connection.namespace}, or absent, as --namespace says so`;
  return [{ ...placeOf(pointer), field: fieldOf(pointer), detail }];
}

function twiceErrors(target: ConvertedTarget, first: FilePlace | undefined): readonly FileError[] {
  if (!first) return [];
  const pointer = '/metadata/name';
  const detail = `must be unique in all files: ${qualifiedName(target)} is in ${placeText(first)}, too`;
  return [{ ...target.placeOf(pointer), field: target.fieldOf(pointer), detail }];
}
