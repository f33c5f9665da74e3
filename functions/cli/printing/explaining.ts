/** The fields of a target as `kubectl explain` prints them, from the schemas of the API. */
import * as z from 'zod';
import { manifestSchema } from '../../../shared/api/schema/manifest-schema.ts';
import { targetViewSchema } from '../../../shared/api/schema/target-schema.ts';
import { nearest } from '../../../shared/lib/nearest.ts';
import { WrongUse } from '../words/exit-codes.ts';
import { fieldMeanings } from './explained-fields.ts';

/** The part of a JSON Schema that fields need. */
export type FieldSchema = {
  readonly type?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly properties?: { readonly [name: string]: FieldSchema } | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: FieldSchema | undefined;
  readonly anyOf?: readonly FieldSchema[] | undefined;
  readonly additionalProperties?: unknown;
};

/** A target: the spec as clients write it, metadata and status as the API shows them. */
export function targetFields(): FieldSchema {
  const written = z.toJSONSchema(manifestSchema, { io: 'input' }) as FieldSchema;
  const shown = z.toJSONSchema(targetViewSchema) as FieldSchema;
  const status = { ...written.properties?.status?.properties, ...shown.properties?.status?.properties };
  return {
    type: 'object',
    properties: {
      ...written.properties,
      metadata: { type: 'object', properties: shown.properties?.metadata?.properties },
      status: { type: 'object', properties: status },
    },
    required: ['spec'],
  };
}

const kinds = ['target', 'targets', 't'];

/** `path`: `target.spec.host`. @throws WrongUse for a field that there is not */
export function explained(path: string, isRecursive: boolean): string {
  const [kind = '', ...names] = path.split('.');
  if (!kinds.includes(kind)) throw new WrongUse(`${kind} must be target, as in target.spec.host`);
  let schema = targetFields();
  let parent: FieldSchema = {};
  for (const [index, name] of names.entries()) {
    const fields = fieldsOf(schema);
    const next = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!next) throw noField(['target', ...names.slice(0, index)].join('.'), name, Object.keys(fields));
    [parent, schema] = [membersOf(schema), next];
  }
  const last = names.at(-1);
  const field = last === undefined ? '' : `\nFIELD: ${last} ${typeText(schema, isRequired(parent, last))}\n`;
  const fields = fieldLines(schema, names, { isRecursive, depth: 1 });
  const list = fields.length === 0 ? '' : `\nFIELDS:\n${fields.join('\n').trimEnd()}\n`;
  const meaning = meaningOf(names);
  return `KIND:     Target\nVERSION:  probelet.dev/v1\n${field}\nDESCRIPTION:\n    ${meaning}\n${enumText(schema)}${list}`;
}

function noField(parent: string, name: string, known: readonly string[]): WrongUse {
  const meant = nearest(name, known);
  const hint = meant === undefined ? `it has ${known.join(', ') || 'no fields'}` : `did you mean ${meant}?`;
  return new WrongUse(`${parent} has no field ${name}: ${hint}`);
}

/** Of a list those of its elements. */
export const fieldsOf = (schema: FieldSchema): NonNullable<FieldSchema['properties']> =>
  membersOf(schema).properties ?? {};

const membersOf = (schema: FieldSchema): FieldSchema => schema.items ?? schema;

const isRequired = ({ required = [] }: FieldSchema, name: string): boolean => required.includes(name);

function typeText(schema: FieldSchema, isNeeded: boolean): string {
  return `<${typeName(schema)}>${isNeeded ? ' -required-' : ''}`;
}

function typeName({ type, items, properties, anyOf, additionalProperties }: FieldSchema): string {
  if (items) return `[]${typeName(items)}`;
  if (anyOf) return anyOf.map(typeName).join(' or ');
  return type === 'object' && !properties && additionalProperties ? 'map[string]string' : (type ?? 'object');
}

const enumText = (schema: FieldSchema): string => {
  const values = (membersOf(schema).enum ?? []).filter((value) => value !== '');
  return values.length === 0 ? '' : `    One of ${values.join(', ')}.\n`;
};

type Listing = { readonly isRecursive: boolean; readonly depth: number };

function fieldLines(schema: FieldSchema, path: readonly string[], { isRecursive, depth }: Listing): readonly string[] {
  const margin = '  '.repeat(depth);
  const parent = membersOf(schema);
  return Object.entries(fieldsOf(schema)).flatMap(([name, field]) => {
    const line = `${margin}${name} ${typeText(field, isRequired(parent, name))}`;
    const own = [...path, name];
    if (isRecursive) return [line, ...fieldLines(field, own, { isRecursive, depth: depth + 1 })];
    return [line, `${margin}  ${meaningOf(own)}`, ''];
  });
}

const probeFields = ['startupProbe', 'readinessProbe', 'livenessProbe'];
const containerFields = ['containers', 'initContainers'];
const statusFields = ['containerStatuses', 'initContainerStatuses'];

/** The key of `fieldMeanings` for a path. */
export function meaningKey(path: readonly string[]): string {
  if (path.length === 0) return 'target';
  const below = (names: readonly string[]) => path.slice(0, -1).findLastIndex((name) => names.includes(name));
  const probe = below(probeFields);
  if (probe >= 0) return ['probe', ...path.slice(probe + 1)].join('.');
  const state = path[0] === 'status' ? below(['state', 'lastState']) : -1;
  if (state >= 0) return ['state', ...path.slice(state + 1)].join('.');
  const status = below(statusFields);
  if (status >= 0) return ['containerStatus', ...path.slice(status + 1)].join('.');
  const container = below(containerFields);
  // The spec of a target with one container may have its probes.
  if (path.length === 2 && probeFields.includes(path[1] ?? '')) return `container.${path[1]}`;
  return container >= 0 ? ['container', ...path.slice(container + 1)].join('.') : path.join('.');
}

const meaningOf = (path: readonly string[]): string => fieldMeanings[meaningKey(path)] ?? '';
