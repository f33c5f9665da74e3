/**
 * The variables of a container that no exec probe names. Many are passwords, and only the commands of exec probes have
 * their variables expanded.
 */
import { variablesIn } from '../../core/spec/handler-exec.ts';
import { isEnvName } from '../../core/spec/names.ts';

type Members = { readonly [field: string]: unknown };

const probeFields = ['startupProbe', 'readinessProbe', 'livenessProbe'] as const;

/** Of the container's `env`, before its shape is known. None while one of them is wrong, so that errors find theirs. */
export function unusedVariables(container: object): ReadonlySet<unknown> {
  const { env } = container as Members;
  if (!Array.isArray(env) || !env.every(isVariable)) return new Set();
  const used = new Set(commandWords(container as Members).flatMap(variablesIn));
  return new Set(env.filter(({ name }) => !used.has(name)));
}

const membersOf = (value: unknown): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

const fields = ['name', 'value', 'valueFrom'];

function isVariable(entry: unknown): entry is { readonly name: string } {
  const { name, value } = membersOf(entry);
  const isText = value === undefined || value === null || typeof value === 'string';
  const isKnown = Object.keys(membersOf(entry)).every((field) => fields.includes(field));
  return typeof name === 'string' && isEnvName(name) && isText && isKnown;
}

function commandWords(container: Members): readonly string[] {
  return probeFields.flatMap((field) => {
    const { command } = membersOf(membersOf(container[field]).exec);
    return Array.isArray(command) ? command.filter((word) => typeof word === 'string') : [];
  });
}
