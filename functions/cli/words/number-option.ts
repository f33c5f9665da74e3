/** An option whose value is a whole number within limits. */
import { InvalidArgumentError, Option } from 'commander';

export type NumberLimits = { readonly min: number; readonly max: number };

/** @param flags as commander takes them. */
export const numberOption = (flags: string, description: string, { min, max }: NumberLimits): Option =>
  new Option(flags, description).argParser((text) => {
    const number = Number(text);
    if (/^\d{1,10}$/.test(text) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}`);
  });
