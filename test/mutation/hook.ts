/** Preloaded (`--import`) where a mutant is judged: the file of the mutant is loaded with its change, everything else as it is. */
import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutantVariable } from './mutant.ts';

const projectUrl = new URL('../../', import.meta.url);
const { file, start, end, replacement } = JSON.parse(process.env[mutantVariable] ?? '') as Mutant;
const mutated = new URL(file, projectUrl).href;

registerHooks({
  load(url, context, nextLoad) {
    if (url !== mutated) return nextLoad(url, context);
    const source = readFileSync(fileURLToPath(url), 'utf8');
    const changed = source.slice(0, start) + replacement + source.slice(end);
    return { format: 'module', source: stripTypeScriptTypes(changed), shortCircuit: true };
  },
});
