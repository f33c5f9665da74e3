/**
 * What the compiler refuses of a schema: each line below a `@ts-expect-error` must not compile, or `npm run types`
 * fails. The schemas of shared/store/records are annotated with these types and have no other protection from a
 * forgotten field.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as z from 'zod';
import { exact, type NamesSchema, type ObjectSchema, unionOf } from '../../shared/schema/schema-of.ts';

type Port = { readonly port: number; readonly name?: string };
type Color = 'red' | 'green';
type Shape = { readonly kind: 'circle'; readonly radius?: number } | { readonly kind: 'point' };
type Thing = {
  readonly id: string;
  readonly color?: Color;
  readonly port?: Port;
  readonly ports: readonly Port[];
  readonly byName: { readonly [name: string]: Port };
  readonly shape?: Shape;
};

const port = z.object({ port: z.int(), name: z.string().exactOptional() });
const withoutName = z.object({ port: z.int() });
const color = z.enum(['red', 'green']);
const circle = z.object({ kind: z.literal('circle'), radius: z.number().exactOptional() });
const point = z.object({ kind: z.literal('point') });
const shape = unionOf<Shape, 'kind'>('kind', { circle, point });
const whole = {
  id: z.string(),
  color: color.exactOptional(),
  port: port.exactOptional(),
  ports: z.array(port),
  byName: z.record(z.string(), port),
  shape: shape.exactOptional(),
};
const { color: _, ...withoutColor } = whole;

/** Never executed: only its types matter. */
export function refusedByTheCompiler(): readonly unknown[] {
  const complete: ObjectSchema<Thing> = z.object(whole);
  // @ts-expect-error an optional field is missing
  const missing: ObjectSchema<Thing> = z.object(withoutColor);
  // @ts-expect-error an optional field of an optional object is missing
  const inObject: ObjectSchema<Thing> = z.object({ ...whole, port: withoutName.exactOptional() });
  // @ts-expect-error an optional field of the elements of a list is missing
  const inList: ObjectSchema<Thing> = z.object({ ...whole, ports: z.array(withoutName) });
  // @ts-expect-error an optional field of the values of a map is missing
  const inMap: ObjectSchema<Thing> = z.object({ ...whole, byName: z.record(z.string(), withoutName) });
  // @ts-expect-error a field that is optional in the type is required in the schema
  const required: ObjectSchema<Thing> = z.object({ ...whole, color });
  // @ts-expect-error a field that is required in the type is optional in the schema
  const optional: ObjectSchema<Thing> = z.object({ ...whole, id: z.string().exactOptional() });
  // @ts-expect-error a name is missing
  const names: ObjectSchema<Thing> = z.object({ ...whole, color: z.enum(['red']).exactOptional() });
  // @ts-expect-error there is a name too many
  const moreNames = z.enum(['red', 'green', 'blue']) satisfies NamesSchema<Color>;
  // @ts-expect-error a union that `unionOf` has not made may lack a member
  const plain: ObjectSchema<Thing> = z.object({ ...whole, shape: z.union([circle, point]).exactOptional() });
  // @ts-expect-error a member of the union is missing
  const member = unionOf<Shape, 'kind'>('kind', { circle });
  // @ts-expect-error an optional field of a member is missing
  const inMember = unionOf<Shape, 'kind'>('kind', { circle: z.object({ kind: z.literal('circle') }), point });
  return [complete, missing, inObject, inList, inMap, required, optional, names, moreNames, plain, member, inMember];
}

describe('a union', () => {
  test('has the member that its attribute names', () => {
    assert.deepEqual(shape.parse({ kind: 'circle', radius: 1 }), { kind: 'circle', radius: 1 });
    assert.equal(shape.safeParse({ kind: 'square' }).success, false);
  });

  test('reads what is of no member as it is told', () => {
    const other = z.object({ kind: z.string() }).transform(() => ({ kind: 'point' }) as const);
    const open = unionOf<Shape, 'kind'>('kind', { circle, point }, other);
    assert.deepEqual(open.parse({ kind: 'square' }), { kind: 'point' });
    assert.deepEqual(open.parse({ kind: 'circle', radius: 1 }), { kind: 'circle', radius: 1 });
  });
});

test('an exact attribute may be absent, but not undefined', () => {
  const loose = { a: z.string().optional(), b: z.int() };
  assert.equal(z.object(loose).safeParse({ a: undefined, b: 1 }).success, true);
  const strict = z.object(exact(loose));
  assert.equal(strict.safeParse({ b: 1 }).success, true);
  assert.equal(strict.safeParse({ a: undefined, b: 1 }).success, false);
});
