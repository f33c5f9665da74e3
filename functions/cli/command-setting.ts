/** What every command is made with. */
import type { Io } from './io.ts';
import type { ExitCode } from './words/exit-codes.ts';

/** A command ends by itself with `ok`, or says otherwise. */
export type EndWith = (code: ExitCode) => void;

export type CommandSetting = { readonly io: Io; readonly endWith: EndWith };
