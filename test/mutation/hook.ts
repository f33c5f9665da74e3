/** Preloaded (`--import`) where a mutant is judged: the file of the mutant is loaded with its change. */
import { loadEdited } from '../support/edited-source.ts';
import { type Mutant, mutantVariable } from './mutant.ts';

loadEdited([JSON.parse(process.env[mutantVariable] ?? '') as Mutant]);
