/**
 * Values as Compose's schema takes them: whole numbers and booleans may be texts, because they may come from variables.
 */

/** `$NAME` and `${NAME}` are variables; `$$` stands for a dollar. */
export const hasVariable = (text: string): boolean => /\$[A-Za-z_{]/.test(text.replaceAll('$$', ''));

export const unescaped = (text: string): string => text.replaceAll('$$', '$');

export type Read<Value> =
  | { readonly kind: 'absent' }
  | { readonly kind: 'value'; readonly value: Value }
  /** Only `docker compose config` knows the value. */
  | { readonly kind: 'variable' }
  | { readonly kind: 'wrong' };

const value = <Value>(read: Value): Read<Value> => ({ kind: 'value', value: read });

function readText<Value>(given: unknown, read: (text: string) => Value | undefined): Read<Value> {
  if (given === undefined || given === null) return { kind: 'absent' };
  const text = String(given);
  if (typeof given === 'string' && hasVariable(text)) return { kind: 'variable' };
  const isPlain = ['string', 'number', 'boolean'].includes(typeof given);
  const found = isPlain ? read(text) : undefined;
  return found === undefined ? { kind: 'wrong' } : value(found);
}

export const wholeNumber = (given: unknown): Read<number> =>
  readText(given, (text) => (/^[-+]?\d{1,15}$/.test(text) ? Number(text) : undefined));

/** Booleans in upper or lower case, with the words of YAML 1.1. */
const booleans: { readonly [text: string]: boolean } = {
  ...{ true: true, y: true, yes: true, on: true },
  ...{ false: false, n: false, no: false, off: false },
};

export const truthValue = (given: unknown): Read<boolean> =>
  readText(given, (text) => (Object.hasOwn(booleans, text.toLowerCase()) ? booleans[text.toLowerCase()] : undefined));

export const orElse = <Value>(read: Read<Value>, otherwise: Value): Value =>
  read.kind === 'value' ? read.value : otherwise;
