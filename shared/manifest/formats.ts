/** The formats of files, one row each. The first that recognises a document converts it. */
import { compose } from './compose/compose.ts';
import { gatus } from './gatus/gatus.ts';
import { kubernetes } from './kubernetes/kubernetes.ts';
import type { Format } from './manifest.ts';
import { target } from './target.ts';

export const formats: readonly Format[] = [target, kubernetes, compose, gatus];
