/** The shape of a problem document (RFC 9457), for the OpenAPI document. */
import '../zod-openapi.ts';
import * as z from 'zod';

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z
      .array(
        z.object({
          pointer: z.string().optional().openapi({ description: 'JSON Pointer of the wrong field.' }),
          parameter: z.string().optional().openapi({ description: 'Name of the wrong parameter or header.' }),
          detail: z.string(),
        }),
      )
      .optional(),
    quota: z
      .object({ limit: z.string(), max: z.number(), now: z.number(), asked: z.number() })
      .optional()
      .openapi({ description: 'With 429: the limit, its value, what there is, and what was asked for on top.' }),
  })
  .openapi('Problem', { description: 'RFC 9457' });
