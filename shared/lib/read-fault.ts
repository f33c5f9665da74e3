/** Why a file has no text, as an error line says it behind the name of the file. */
import { FileRefused } from './bounded-file.ts';
import { codeOf } from './error-code.ts';

const faults: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8',
};

/** `error`: of opening, reading or decoding it. */
export function readFault(error: unknown): string {
  if (error instanceof FileRefused) return error.message;
  const code = codeOf(error);
  return faults[code] ?? `cannot be read (${code})`;
}
