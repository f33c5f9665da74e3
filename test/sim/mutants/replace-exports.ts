/**
 * Takes one exported function of a module away and puts another one in its place, when the module is loaded: whoever imports it gets a
 * module that passes everything of the original on but that one. Nothing in the product knows of it, and only this process sees it.
 */
import { registerHooks } from 'node:module';
import type { Replacement } from './replacement.ts';

const projectUrl = new URL('../../../', import.meta.url);
const registryUrl = new URL('./replacement.ts', import.meta.url);

/** Where the wrapper finds the module that it wraps: the same file under another name. */
const originalSuffix = '?original';

/** To be called before any of the modules is loaded. */
export function replaceExports(replacements: readonly Replacement[]): void {
  const sources = new Map<string, string>();
  for (const { module } of replacements) {
    const url = new URL(module, projectUrl).href;
    const exported = replacements.filter((one) => one.module === module).map((one) => one.exported);
    sources.set(url, wrapperOf(url, module, exported));
  }
  registerHooks({
    load(url, context, nextLoad) {
      const source = sources.get(url);
      return source === undefined ? nextLoad(url, context) : { format: 'module', source, shortCircuit: true };
    },
  });
}

function wrapperOf(url: string, module: string, exported: readonly string[]): string {
  const original = JSON.stringify(url + originalSuffix);
  return [
    `import * as original from ${original};`,
    `import { replaced } from ${JSON.stringify(registryUrl.href)};`,
    `export * from ${original};`,
    ...exported.map((name) => `export const ${name} = replaced('${module}', '${name}', original.${name});`),
  ].join('\n');
}
