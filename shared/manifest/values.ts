/** Looks into parsed values of any shape. A value of another shape than asked for counts as absent. */
import { ownProperty } from '../lib/own-property.ts';
import type { Path } from './manifest.ts';

export type Members = { readonly [name: string]: unknown };

export const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const membersOf = (value: unknown): Members => (isMembers(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** An empty text counts as absent. */
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined;

export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

export const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (value, token) => (Array.isArray(value) ? value[Number(token)] : ownProperty(membersOf(value), String(token))),
    root,
  );

/** The object without the members that are undefined. */
export const given = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
