/** The schemas of single values that several records have. */
import * as z from 'zod';

/**
 * The schema of each attribute of an object, of its optional ones too: one that is missing would compile, and would be
 * dropped whenever the object is read.
 */
export type Attributes<Value> = { readonly [Name in keyof Value]-?: z.ZodType<Value[Name]> };

export const count = z.int().min(0);
export const atLeastOne = z.int().min(1);
export const instantMs = z.number();

export const result = z.enum(['success', 'failure', 'unknown']);
export const probeType = z.enum(['liveness', 'readiness', 'startup']);
export const phase = z.enum(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']);
export const conditionStatus = z.enum(['True', 'False', 'Unknown']);
export const restartPolicy = z.enum(['Always', 'OnFailure', 'Never']);
