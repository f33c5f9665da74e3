/** Why a file has no text, as an error line says it behind the name of the file. */
import { codeOf } from './error-code.ts';

const faults: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  EISDIR: 'is a folder, not a file',
  EACCES: 'may not be read',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
};

/** `error`: of opening, reading or decoding it. */
export function readFault(error: unknown): string {
  const code = codeOf(error);
  return faults[code] ?? `cannot be read (${code})`;
}
