/** The handlers of a probe as clients write them and as the API shows them, derived from their shapes. */
import '../http/zod-openapi.ts';
import * as z from 'zod';
import { type Field, isAlwaysStored, isRequired, mapShape } from '../../core/spec/handler-fields.ts';
import { type Handlers, type HandlersInput, mapHandlers } from '../../core/spec/handlers.ts';

type Schemas<Of> = { readonly [Kind in keyof Of]-?: z.ZodOptional<z.ZodType<NonNullable<Of[Kind]>>> };

const optionalUnless = (isThere: boolean, schema: z.ZodType): z.ZodType => (isThere ? schema : schema.optional());

const views: { readonly [Kind in Exclude<Field['kind'], 'choice'>]: z.ZodType } = {
  text: z.string(),
  texts: z.array(z.string()),
  port: z.int(),
  portRef: z.union([z.int(), z.string()]),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
};
const viewOf = (field: Field) => (field.kind === 'choice' ? z.enum(field.of) : views[field.kind]);

const inputs: typeof views = {
  ...views,
  portRef: views.portRef.openapi({ description: 'A port number, or the name of a container port.' }),
  headers: z.array(z.strictObject({ name: z.string(), value: z.string().optional() })),
};
const inputOf = (field: Field) =>
  field.kind === 'choice' ? z.enum([...field.of, '']).openapi({ description: 'Empty: absent.' }) : inputs[field.kind];

/** For a manifest; an unknown field is refused. */
export const handlerInputs = mapHandlers((shape) =>
  z.strictObject(mapShape(shape, (field) => optionalUnless(isRequired(field), inputOf(field)))).optional(),
) as unknown as Schemas<HandlersInput>;

/** For a stored spec. */
export const handlerViews = mapHandlers((shape) =>
  z.object(mapShape(shape, (field) => optionalUnless(isAlwaysStored(field), viewOf(field)))).optional(),
) as unknown as Schemas<Handlers>;
