/** The arguments of commands: a kind of resource, and names. */
import { nearest } from '../../../shared/lib/nearest.ts';
import { CliError, exitCodes } from './exit-codes.ts';

export type Resource = 'targets' | 'probes' | 'events';

const aliases: { readonly [word: string]: Resource } = {
  targets: 'targets',
  target: 'targets',
  t: 'targets',
  probes: 'probes',
  probe: 'probes',
  p: 'probes',
  events: 'events',
  event: 'events',
  ev: 'events',
};

export const resourceWords: readonly string[] = Object.keys(aliases);

/** Names of targets at most in one command line. */
const namesMax = 1_000;

export type NamedResources = { readonly resource: Resource; readonly names: readonly string[] };

/** `targets`, `target/a`, `target a b`. @throws CliError */
export function wantedOf(words: readonly string[]): NamedResources {
  const [first = '', ...rest] = words;
  const [kind = '', ...slashed] = first.split('/');
  const resource = resourceOf(kind);
  if (slashed.length > 1 || slashed[0] === '') throw wrongWords(`${first} must be KIND/NAME`);
  const names = [...slashed, ...rest.map((word) => nameOf(word, resource))];
  if (names.length > namesMax) throw wrongWords(`there must be at most ${namesMax} names`);
  return { resource, names };
}

function resourceOf(kind: string): Resource {
  const resource = Object.hasOwn(aliases, kind) ? aliases[kind] : undefined;
  if (resource) return resource;
  const meant = nearest(kind, resourceWords);
  const hint = meant === undefined ? 'must be targets, probes or events' : `did you mean ${meant}?`;
  throw wrongWords(`there is no resource ${kind}: ${hint}`);
}

function nameOf(word: string, resource: Resource): string {
  const [kind = '', name] = word.split('/');
  if (name === undefined) return word;
  if (resourceOf(kind) === resource && name !== '') return name;
  throw wrongWords(`${word} must be a name of ${resource}`);
}

/** Targets alone, with at least one name if names are needed. @throws CliError */
export function targetNames(words: readonly string[], isNamed = true): readonly string[] {
  const { resource, names } = wantedOf(words);
  if (resource !== 'targets') throw wrongWords('this command is for targets');
  if (isNamed && names.length === 0) throw wrongWords('name a target, as in target/NAME');
  return names;
}

const wrongWords = (message: string): CliError => new CliError(message, exitCodes.wrongUse);

export const noTarget = (name: string, namespace: string): CliError =>
  new CliError(`there is no target ${name} in namespace ${namespace}`, exitCodes.notFound);
