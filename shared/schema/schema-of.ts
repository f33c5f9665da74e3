/**
 * The type of a schema that describes a value completely. A schema that lacks an optional field, or a member of a
 * union, would compile as a plain `z.ZodType`: the field would be dropped whenever the value is read, and an item with
 * the member would be poison. Annotated with these types it does not compile, at any depth.
 */
import * as z from 'zod';

/** The schema of an object, and of each object in it. */
export type ObjectSchema<Value> = z.ZodType<Value> & { readonly shape: Attributes<Value> };

/**
 * The schema of each attribute, of the optional ones too. One that is optional in the type is optional in the schema:
 * otherwise an item of a release that did not know it would be poison.
 */
export type Attributes<Value> = {
  readonly [Name in keyof Value]-?: Record<never, never> extends Pick<Value, Name>
    ? z.ZodExactOptional<SchemaOf<Exclude<Value[Name], undefined>>>
    : SchemaOf<Value[Name]>;
};

type SchemaOf<Value> = [Value] extends [string]
  ? TextSchema<Value>
  : [Value] extends [readonly (infer Element)[]]
    ? z.ZodType<Value> & { readonly element: SchemaOf<Element> }
    : [Value] extends [object]
      ? MapOrObjectSchema<Value>
      : z.ZodType<Value>;

type TextSchema<Text extends string> = string extends Text ? z.ZodType<Text> : NamesSchema<Text> | z.ZodLiteral<Text>;

/** The schema of a fixed set of names, with each of them. */
export type NamesSchema<Name extends string> = z.ZodType<Name> & { readonly enum: { readonly [Each in Name]: Each } };

/** A union has a schema that `unionOf` has made. */
type MapOrObjectSchema<Value extends object> = string extends keyof Value
  ? z.ZodType<Value> & { readonly valueType: SchemaOf<Value[keyof Value]> }
  : IsUnion<Value> extends true
    ? UnionSchema<Value>
    : ObjectSchema<Value>;

type IsUnion<Value, Whole = Value> = Value extends unknown ? ([Whole] extends [Value] ? false : true) : never;

/** Branded, so that no other schema passes for one with every member. */
export type UnionSchema<Value> = z.ZodType<Value> & { readonly [hasEveryMember]: true };
declare const hasEveryMember: unique symbol;

/**
 * The schema of a union, from one for each member by the value of its attribute `name`. `otherwise` reads what is of no
 * member.
 */
export function unionOf<Value extends { readonly [Each in Name]: string }, Name extends keyof Value & string>(
  name: Name,
  members: { readonly [Key in Value[Name]]: ObjectSchema<Extract<Value, { readonly [Each in Name]: Key }>> },
  otherwise?: z.ZodType<Value>,
): UnionSchema<Value> {
  const options = Object.values(members) as unknown as Parameters<typeof z.discriminatedUnion>[1];
  const union = z.discriminatedUnion(name, options);
  return (otherwise ? z.union([union, otherwise]) : union) as unknown as UnionSchema<Value>;
}

/** The attributes with no optional one that is present as `undefined`: what is stored is JSON. */
export function exact<Shape extends z.ZodRawShape>(shape: Shape): Exact<Shape> {
  const entries = Object.entries(shape).map(([name, schema]) => [
    name,
    schema instanceof z.ZodOptional ? z.exactOptional(schema.unwrap()) : schema,
  ]);
  return Object.fromEntries(entries) as Exact<Shape>;
}

type Exact<Shape extends z.ZodRawShape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends z.ZodOptional<infer Inner extends z.ZodType>
    ? z.ZodExactOptional<Inner>
    : Shape[Name];
};
