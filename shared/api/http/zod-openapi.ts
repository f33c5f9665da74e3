/**
 * zod's schemas extended with what OpenAPI adds to their types. Imported before any schema is described. Only the class
 * is passed: all of zod would include its error texts in fifty languages, 350 KB of the function's bundle.
 */
import { extendZodWithOpenApi } from '@asteasolutions/zod-to-openapi';
import * as zod from 'zod';

extendZodWithOpenApi({ ZodType: zod.ZodType } as typeof zod);
